/**
 * The engine of one process: starts runs, claims due and abandoned runs, and executes each in an actor. Only active runs
 * are in memory; waiting runs are in the store. Takes answers that arrive late.
 */
import { ProvisoError } from '../base/errors/error.ts'
import { pick } from '../base/json.ts'
import { settleWithin } from '../base/time/clock.ts'
import type { AttemptRef, DoubtfulCall } from '../domain/attempt/call-key.ts'
import type { NewEvent } from '../domain/event.ts'
import type { AttemptResult } from '../domain/output.ts'
import type { Claim, Store } from '../domain/ports/store.ts'
import type { RunState } from '../domain/run.ts'
import { missingCapabilities } from './capabilities.ts'
import { type ClaimBackOff, createClaimBackOff } from './claim/claim-back-off.ts'
import { createRunDeliveries } from './claim/run-deliveries.ts'
import { createRunPoller } from './claim/run-poller.ts'
import type { RunSource } from './claim/run-source.ts'
import type { Engine, EngineOptions } from './engine-options.ts'
import { changeTask } from './input/change-task.ts'
import { openQuestionAbout, recordLateResult, recordLostLease, settlesDoubt } from './input/late-result.ts'
import { createPendingInputs } from './input/pending-inputs.ts'
import { cancel, type Outside, reply, resume, triggerPolicy } from './input/replies.ts'
import { boundReads } from './journal/bound-reads.ts'
import { createChanges, createRunWaiters, loadEvents, loadState, watchRun } from './journal/journal.ts'
import { createLifecycle } from './journal/lifecycle-listeners.ts'
import { getRunStatus } from './journal/run-head.ts'
import { lookForAnswer } from './perform/perform.ts'
import { replayRun } from './replay/replay.ts'
import type { Actor } from './run-loop/run-actor-context.ts'
import { type ActiveRuns, createActiveRuns, createStarts, releaseRuns } from './runs/active-runs.ts'
import { type EngineSettings, resolveSettings } from './runs/engine-settings.ts'

export type { Engine, EngineOptions, StartOptions } from './engine-options.ts'

export function createEngine(options: EngineOptions): Engine {
  const settings = resolveSettings(options)
  const { store, clock, decisionContext, owner, leaseMs, pollMs, compileOptions } = settings
  const reader = boundReads(store, { clock, ms: settings.answerMs })
  let isClosed = false
  const changes = createChanges(store, clock, pollMs)
  const lifecycle = createLifecycle()
  const pending = createPendingInputs()
  const outside: Outside = {
    store,
    compileOptions,
    decisionContext,
    pending,
    onAppended: (state, events) => lifecycle.appended(state, events, { by: 'outside' }),
  }
  const waiters = createRunWaiters({
    store,
    clock,
    answerMs: settings.answerMs,
    changes,
    isActive: (runId) => runs.actors.has(runId),
    isClosed: () => isClosed,
  })
  const backOff = createBackOff(settings)
  const lateAnswers = createLateAnswers(settings, outside, (runId, state) => runs.wakeRun(runId, state))
  const runs = createActiveRuns({
    settings,
    lifecycle,
    changes,
    waiters,
    backOff,
    source: {
      wake: (runId) => source.wake(runId),
      onLeft: (runId, left) => source.onLeft(runId, left),
    },
    onLateResult: lateAnswers.record,
    hasPendingInput: pending.has,
    // If the store is unavailable, the loss is not counted; the run continues in another process in any case.
    onLeaseLost: ({ runId, calls }) =>
      void recordLostLease(outside, runId, { owner, calls })
        .then((state) => runs.wakeRun(runId, state))
        .catch(() => {}),
    onAppended(state, events, durable) {
      lifecycle.appended(state, events, { by: 'carrier', durable })
      lateAnswers.check(state.runId, events)
    },
  })
  const { source, open } = createSource(settings, { runs, backOff })
  const stopListening = store.onChange((runId, seq, isFree, isSettled) => {
    if (seq > 0) backOff.remove(runId)
    if (isFree) source.onFree()
    else if (seq === 0) source.answerChallenge?.(runId)
    waiters.markActive(runId, isSettled)
    runs.actors.get(runId)?.notify(seq)
  })
  const onStored: Outside['onAppended'] = (state, events) => {
    outside.onAppended(state, events)
    waiters.started(state.runId)
    lifecycle.notify({ kind: 'left', runId: state.runId, why: 'started', status: getRunStatus(state) })
  }
  const starts = createStarts(settings, runs, { isClosed: () => isClosed, onStored })

  return {
    async start(envelope, given) {
      if (isClosed) throw new ProvisoError('engine/closed', 'The engine is closed')
      return starts.start(envelope, given)
    },
    settled: waiters.wait,
    ...createReads(settings, reader),
    ...createInputs(settings, outside, runs.wakeRun),
    watch: (runId, given = {}) => watchRun(reader, changes, { ...given, runId }),
    takeLateAnswer: lateAnswers.takeLateAnswer,
    logLateResult: lateAnswers.logLateResult,
    subscribeToLifecycle: lifecycle.subscribe,
    catalogChanged: () => source.onFree(),
    open,
    async close({ graceMs = 5_000 } = {}) {
      if (isClosed) return
      isClosed = true
      const polled = source.close()
      runs.slots.close()
      await releaseRuns(runs, settings, { graceMs, polled })
      if (settings.gate.isHolding) await closeGate(settings)
      starts.close()
      source.end()
      await settings.queue?.end()
      stopListening()
      changes.close()
    },
    leaseMs,
    circuits: settings.gate.circuits,
    get active() {
      return runs.actors.size
    },
    get attempts() {
      return runs.slots.taken
    },
  }
}

function createBackOff({ clock, pollMs, catalogFor, isServed }: EngineSettings) {
  return createClaimBackOff({
    clock,
    firstMs: pollMs,
    knows: (capabilityId, tenant) =>
      catalogFor(tenant).capability(capabilityId) !== undefined && (isServed?.(capabilityId, tenant) ?? true),
  })
}

/** A store that is not available does not block the shutdown: then the permits expire. */
async function closeGate({ gate, clock }: EngineSettings): Promise<void> {
  let cancelTimer = () => {}
  const late = new Promise<void>((resolve) => {
    cancelTimer = clock.timer(clock.now() + longestReturnMs, resolve)
  })
  await Promise.race([gate.close().catch(() => {}), late])
  cancelTimer()
}
const longestReturnMs = 1_000

/** Runs come from the queue if there is one, else from polling the store. */
function createSource(
  settings: EngineSettings,
  { runs, backOff }: { readonly runs: ActiveRuns; readonly backOff: ClaimBackOff },
): { readonly source: RunSource; readonly open: Engine['open'] } {
  const { store, queue, claim, onCrash } = settings
  const shared = {
    ...pick(settings, ['store', 'clock', 'owner', 'leaseMs', 'pollMs', 'placements']),
    actors: runs.actors,
    onClaim: ({ runId, ...claimed }: Claim) => runs.execute(runId, { kind: 'claimed', ...claimed }),
    onLeaseLost: (actor: Actor) => runs.lose(actor),
    onError: (cause: unknown) => onCrash?.('', cause),
  }
  if (!queue) {
    const own = claim === 'all' ? undefined : runs.own
    const { excludedRuns } = backOff
    const source = createRunPoller({ ...shared, own, excludedRuns, freeSlots: () => runs.slots.free })
    return { source, open: async () => source.open() }
  }
  const { handover } = store
  if (!handover) throw queueNeedsSharedStore(queue.name, store.name)
  const source = createRunDeliveries({ ...shared, handover, queue, retryAt: backOff.until })
  return {
    source,
    async open() {
      await queue.open(claim === 'none' ? undefined : source.receive)
      source.open()
    },
  }
}

function queueNeedsSharedStore(queue: string, store: string): ProvisoError {
  return new ProvisoError(
    'option/invalid',
    `Cannot use the queue "${queue}": it needs a PostgreSQL store, got ${store}`,
    { hint: 'Open a store with postgres://…, or remove the option `queue`' },
  )
}

/** Methods that read the journal of a run. */
function createReads(
  { compileOptions, decisionContext }: EngineSettings,
  store: Store,
): Pick<Engine, 'state' | 'missing' | 'replay'> {
  return {
    state: (runId) => loadState(store, runId, compileOptions),
    async missing(runId, answer) {
      const state = await loadState(store, runId, compileOptions)
      return missingCapabilities(state, decisionContext(state.tenant).capability, answer)
    },
    async replay(runId, given = {}) {
      const events = await loadEvents(store, runId)
      const [first] = events
      const { capability, askMs } = decisionContext(
        (first?.type === 'start' && first.payload.tenant) || 'default',
      )
      return replayRun(events, { ...given, capability, askMs, compileOptions })
    },
  }
}

/** Methods that record external input to a run, and wake it. */
function createInputs(
  { store, compileOptions, redactor, clock, answerMs }: EngineSettings,
  outside: Outside,
  wakeRun: ActiveRuns['wakeRun'],
): Pick<Engine, 'reply' | 'changeTask' | 'cancel' | 'resume' | 'trigger' | 'claim'> {
  /** The input is recorded and the run woken also if the store answers after the deadline of the caller. */
  const record = (runId: string, recording: Promise<RunState>): Promise<void> =>
    settleWithin(
      recording.then((state) => wakeRun(runId, state)),
      { clock, until: clock.now() + answerMs, late: () => unanswered(runId, answerMs) },
    )
  return {
    reply: async (runId, given) => record(runId, reply(outside, runId, redactor.known(given))),
    changeTask: async (runId, given) => record(runId, changeTask(outside, runId, redactor.known(given))),
    cancel: async (runId, given) => record(runId, cancel(outside, runId, redactor.known(given))),
    resume: async (runId, given) => record(runId, resume(outside, runId, redactor.known(given))),
    trigger: async (runId, given) => record(runId, triggerPolicy(outside, runId, given)),
    claim: async (runId) => record(runId, loadState(store, runId, compileOptions)),
  }
}

function unanswered(runId: string, answerMs: number): ProvisoError {
  return new ProvisoError(
    'store/unavailable',
    `The store has not answered within ${answerMs} ms; what was said to the run "${runId}" may be recorded`,
    { hint: 'Read the run, and say it again if it is not recorded' },
  )
}

// Answers that arrive after their attempt has ended: of interrupted calls, and of agents that call back.

interface LateAnswers extends Pick<Engine, 'takeLateAnswer' | 'logLateResult'> {
  /** Records the result of an interrupted call. */
  readonly record: (runId: string, ref: AttemptRef, result: AttemptResult) => void
  /** Checks for answers to the calls that these events ask a person about. */
  readonly check: (runId: string, events: readonly NewEvent[]) => void
}

function createLateAnswers(
  settings: EngineSettings,
  outside: Outside,
  wakeRun: (runId: string, state: RunState) => void,
): LateAnswers {
  const { store, catalogFor, dispatchers, clock, redactor, random, storeRaw, parseText } = settings
  /** Closes the ask about a call whose answer is in the store by now. */
  const takeAnswer = async (runId: string, isMeant: (call: DoubtfulCall, nodeId: string) => boolean) => {
    const state = await loadState(store, runId, settings.compileOptions)
    const question = openQuestionAbout(state, isMeant)
    if (question === undefined) return
    const { call, nodeId } = question
    const shared = {
      catalog: catalogFor(state.tenant),
      dispatchers,
      clock,
      redactor,
      random,
      storeRaw,
      parseText,
      know: settings.decisionContext(state.tenant).capability,
    }
    const result = await lookForAnswer({ ...shared, state, nodeId, call })
    // The attempt may have ended with this same answer, which adds no information to the ask.
    if (result === undefined || result.outcome === call.outcome) return
    const note = `"${call.capabilityId}" called back: its answer counts`
    wakeRun(runId, await recordLateResult(outside, runId, { ref: call, result, note, settles: true }))
  }
  return {
    takeLateAnswer: (runId, idempotencyKey) =>
      takeAnswer(runId, (call) => call.idempotencyKey === idempotencyKey),
    async logLateResult(runId, ref, outcome) {
      const result = { outcome, issues: [], usage: { calls: 0 } }
      await recordLateResult(outside, runId, { ref, result, settles: false, note: '' })
    },
    record(runId, ref, result) {
      const note = 'A late result of the interrupted call answered it'
      // If the store is unavailable, the late result is dropped and the ask stays open.
      void recordLateResult(outside, runId, { ref, result, note, settles: settlesDoubt(result) })
        .then((state) => wakeRun(runId, state))
        .catch(() => {})
    },
    check(runId, events) {
      for (const event of events)
        if (event.type === 'hitl_request' && event.payload.kind === 'unknown_outcome')
          // The answer may have arrived while no process had the run.
          void takeAnswer(runId, (_, nodeId) => nodeId === event.nodeId).catch(() => {})
    },
  }
}
