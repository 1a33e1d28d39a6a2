/**
 * The active runs of this process: one actor each, from the start or claim until the run is idle, lost or crashed. A start
 * stores the first events of a run; it always settles: with the answer of the store, also if the actor was stopped
 * meanwhile; at its deadline, if the store does not answer; and when the engine closes.
 */

import { ProvisoError } from '../../base/errors/error.ts'
import { settleWithin } from '../../base/time/clock.ts'
import type { Envelope } from '../../domain/envelope.ts'
import type { LeftNotice } from '../../domain/event/lifecycle.ts'
import type { EventPayloads, NewEvent } from '../../domain/event.ts'
import { getPlacement } from '../../domain/placement.ts'
import { applyEvent, begin } from '../../domain/run/fold.ts'
import type { RunState } from '../../domain/run.ts'
import { schemaHash } from '../../schema/hash.ts'
import type { ClaimBackOff } from '../claim/claim-back-off.ts'
import type { LeftRun, RunSource } from '../claim/run-source.ts'
import { openingFacts } from '../decide/decide.ts'
import type { Engine, StartOptions } from '../engine-options.ts'
import { fact } from '../events.ts'
import type { Changes, RunWaiters } from '../journal/journal.ts'
import type { Lifecycle } from '../journal/lifecycle-listeners.ts'
import { buildRunHead, firstTimer, getRunStatus } from '../journal/run-head.ts'
import { createFairReads } from '../run-loop/fair-reads.ts'
import { createActor } from '../run-loop/run-actor.ts'
import type { Actor, ActorContext, Origin } from '../run-loop/run-actor-context.ts'
import { createSlots, type SlotGate, type Slots } from '../run-loop/slots.ts'
import { createWork, type EngineSettings } from './engine-settings.ts'

export interface ActiveRuns {
  readonly actors: ReadonlyMap<string, Actor>
  readonly slots: Slots
  /** Unfinished runs that went through this engine; used with `claim: 'own'` only. */
  readonly own: Set<string>
  /** Executes a run in a new actor. */
  execute(runId: string, origin: Origin): void
  /** Removes an actor that has ended, and notifies. */
  dismiss(actor: Actor, why: LeftNotice['why'], resting?: Resting): void
  /** Removes an actor whose lease another process has. */
  lose(actor: Actor): void
  /** Called after external input: notifies the local actor, or has the run claimed. */
  wakeRun(runId: string, state: RunState): void
}

/** What is known of a run that rests. */
interface Resting extends Pick<LeftRun, 'idle'> {
  readonly state?: RunState
}

interface ActiveRunsParts extends Pick<ActorContext, 'onLateResult' | 'onAppended'> {
  /** Called when a lease was lost during calls. */
  readonly onLeaseLost: (actor: Actor) => void
  /** Whether external input is being written to the run. */
  readonly hasPendingInput: (runId: string) => boolean
  readonly settings: EngineSettings
  readonly lifecycle: Lifecycle
  readonly changes: Changes
  readonly waiters: RunWaiters
  readonly backOff: ClaimBackOff
  readonly source: Pick<RunSource, 'wake' | 'onLeft'>
}

export function createActiveRuns(parts: ActiveRunsParts): ActiveRuns {
  const { settings, lifecycle, changes, waiters, backOff, source } = parts
  const { store, clock, decisionContext, turn, claim } = settings
  const actors = new Map<string, Actor>()
  const own = new Set<string>()
  const slots = createSlots(
    settings.limits,
    (runId) => {
      const actor = actors.get(runId)
      if (actor) actor.wake()
      else slots.done(runId, { more: false })
    },
    createSlotGate(settings),
  )
  settings.gate.open(slots.callAgain)

  const dismiss: ActiveRuns['dismiss'] = (actor, why, { state, idle } = {}) => {
    const { runId } = actor
    // This process may have claimed the run again after its lease expired: the old actor must not remove the new one.
    if (actors.get(runId) === actor) {
      actors.delete(runId)
      lifecycle.notify({ kind: 'left', runId, why, ...(state && { status: getRunStatus(state) }) })
      source.onLeft(runId, { why, ...(idle && { idle }) })
    }
    changes.notify(runId)
  }

  const lose = (actor: Actor) => {
    const isKnown = actors.get(actor.runId) === actor
    // Without a lease the run was never here: its start was refused, or not answered in time.
    dismiss(actor, actor.lease ? 'lost' : 'refused')
    if (isKnown && actor.calls.length > 0) parts.onLeaseLost(actor)
  }

  const work = createWork(settings)
  const context: ActorContext = {
    store,
    compileOptions: settings.compileOptions,
    clock,
    slots,
    reads: createFairReads(clock),
    decisionContext,
    turn,
    updateCatalog: settings.updateCatalog,
    ...work,
    canBeAhead: (run, events) => !parts.hasPendingInput(run.runId) && work.canBeAhead(run, events),
    onLateResult: parts.onLateResult,
    onAppended: parts.onAppended,
    onIdle(actor, state, { more, missing }) {
      const { runId } = actor
      if (!more) waiters.settle(runId, state)
      if (state.finished) own.delete(runId)
      if (missing.length === 0 || more) backOff.remove(runId)
      else {
        backOff.add(runId, { tenant: state.tenant, missing }, firstTimer(state))
        settings.onMissing?.(runId, missing)
      }
      const { wakeAt } = buildRunHead(state, clock.now())
      const timers = [...state.timers.values()].map(({ dueAt }) => dueAt)
      const idle = { isChanged: more, missing, timers, ...(wakeAt !== undefined && { wakeAt }) }
      dismiss(actor, 'rests', { state, idle })
    },
    onLost: lose,
    onCrash(actor, cause) {
      if (actors.get(actor.runId) === actor) waiters.reject(actor.runId, cause)
      dismiss(actor, 'crashed')
      settings.onCrash?.(actor.runId, cause)
    },
  }

  return {
    actors,
    slots,
    own,
    dismiss,
    lose,
    execute(runId, origin) {
      const before = actors.get(runId)
      before?.stop()
      // This process has claimed the run again before it noticed the loss.
      if (before && origin.kind === 'claimed' && before.calls.length > 0) parts.onLeaseLost(before)
      waiters.markActive(runId)
      const actor = createActor(runId, context, origin)
      actors.set(runId, actor)
      actor.wake()
    },
    wakeRun(runId, state) {
      backOff.remove(runId)
      if (claim === 'none') {
        if (!state.finished) source.wake(runId)
        return
      }
      if (claim === 'own' && !state.finished) own.add(runId)
      const actor = actors.get(runId)
      if (actor) actor.notify(state.seq)
      else if (!state.finished) source.wake(runId)
    },
  }
}

/** The gate of attempts, which counts by model as well. */
function createSlotGate({ gate, modelOf }: EngineSettings): SlotGate {
  const counted = (capabilityId: string, tenant: string) => ({
    capabilityId,
    tenant,
    model: modelOf(capabilityId, tenant),
  })
  return {
    take: (runId, capabilityId, { tenant, hasAlternate }) =>
      gate.take({ ...counted(capabilityId, tenant), runId, hasAlternate }),
    occupy: (capabilityId, tenant) => gate.occupy(counted(capabilityId, tenant)),
    release: (capabilityId, tenant) => gate.release(counted(capabilityId, tenant)),
    leave: gate.leave,
  }
}

/** Maximum time for the store to release leases. */
const longestRelease = 2_000
/** How often it is checked whether attempts have ended. */
const shortestPause = 50

/** Waits at most `graceMs` for the attempts in flight, and releases all runs, with the ones that a poll under way claims. */
export async function releaseRuns(
  { actors, dismiss }: Pick<ActiveRuns, 'actors' | 'dismiss'>,
  { store, clock }: Pick<EngineSettings, 'store' | 'clock'>,
  { graceMs, polled }: { readonly graceMs: number; readonly polled: Promise<void> },
): Promise<void> {
  const until = clock.now() + graceMs
  const release = async (left: readonly Actor[], others?: Promise<void>) => {
    for (const actor of left) {
      actor.stop()
      dismiss(actor, 'closed')
    }
    // Releases the leases, so that the next process need not wait for them to expire.
    const leases = left.map(({ runId, lease }) => lease && store.release(runId, lease))
    const released = Promise.allSettled([...leases, others])
    // An unavailable store must not block the shutdown: then the leases expire.
    await new Promise<void>((resolve) => {
      const cancelTimer = clock.timer(clock.now() + longestRelease, resolve)
      void released.then(cancelTimer).then(resolve)
    })
  }
  const all = () => [...actors.values()]
  while (all().some((actor) => actor.busy) && clock.now() < until) {
    const next = Math.min(clock.now() + shortestPause, until)
    await new Promise<void>((resolve) => clock.timer(next, resolve))
    // Idle runs are released early: another process can continue them before the slowest call here ends.
    await release(all().filter((actor) => !actor.busy))
  }
  await release(all(), polled)
}

interface Starts {
  readonly start: Engine['start']
  /** Rejects the starts that the store has not answered; their runs may be stored. */
  close(): void
}

interface StartParts {
  readonly isClosed: () => boolean
  /** Called when the first events of a run are in the store that another process executes. */
  readonly onStored: (state: RunState, events: readonly NewEvent[]) => void
}

export function createStarts(
  settings: EngineSettings,
  runs: Pick<ActiveRuns, 'actors' | 'own' | 'execute' | 'dismiss' | 'wakeRun'>,
  { isClosed, onStored }: StartParts,
): Starts {
  const { claim, queue, newId, clock, answerMs, placements } = settings
  /** The run is left to the process that a queue delivers it to, or this one executes none, or lacks a label that it requires. */
  const isOfOthers = (envelope: Envelope) => {
    const placement = getPlacement(envelope)
    return (
      claim === 'none' || queue !== undefined || (placement !== undefined && !placements.includes(placement))
    )
  }
  /** Runs being written to the store, and how their start is rejected. */
  const creating = new Map<string, { readonly settled: Promise<void>; readonly refuse: Refuse }>()
  const start: Engine['start'] = async (envelope, given = {}) => {
    const runId = given.runId ?? newId()
    const until = clock.now() + answerMs
    const late = () => unanswered(runId, answerMs)
    if (isOfOthers(envelope)) {
      const { state, events } = await settleWithin(storeNew(settings, { runId, envelope, given }), {
        ...{ clock, until, late },
      })
      onStored(state, events)
      runs.wakeRun(runId, state)
      return runId
    }
    if (settings.updateCatalog)
      await settleWithin(settings.updateCatalog(given.tenant ?? 'default'), {
        ...{ clock, until, late },
      })
    // A concurrent start with the same id may still fail: only after it ends is it known whether the run exists.
    for (let other = creating.get(runId); other; other = creating.get(runId)) {
      await other.settled
      if (clock.now() >= until) throw unanswered(runId, answerMs)
    }
    if (isClosed()) throw new ProvisoError('engine/closed', 'The engine is closed')
    if (runs.actors.get(runId)?.lease) throw runExists(runId)
    const { stored, refuse } = executeNew(settings, runs, { runId, envelope, given })
    const cancelTimer = clock.timer(until, () => {
      const actor = runs.actors.get(runId)
      // The actor of this start: one that claimed the run has a lease.
      if (actor && !actor.lease) {
        actor.stop()
        runs.dismiss(actor, 'refused')
      }
      refuse(unanswered(runId, answerMs))
    })
    const settled = stored
      .catch(() => {})
      .finally(() => {
        cancelTimer()
        creating.delete(runId)
      })
    creating.set(runId, { settled, refuse })
    await stored
    return runId
  }
  return {
    start,
    close() {
      for (const [runId, { refuse }] of creating)
        refuse(new ProvisoError('engine/closed', `The engine was closed while the run "${runId}" was stored`))
    },
  }
}

interface NewStart {
  readonly runId: string
  readonly envelope: Envelope
  readonly given: StartOptions
}

/** The first events of a run, and its state before the opening ones. */
function openRun(settings: EngineSettings, { runId, envelope, given }: NewStart) {
  const { tenant = 'default' } = given
  const context = settings.decisionContext(tenant)
  const payload = toStartPayload(settings, envelope, { ...given, runId, tenant: given.tenant })
  const first = fact('start', payload, { now: context.now, planVersion: 0 })
  const state = begin(runId, first, settings.compileOptions)
  return { tenant, now: context.now, first, state, opening: openingFacts(state, context) }
}

/** Stores a new run without a lease: it is due at once, and another process claims it. */
async function storeNew(settings: EngineSettings, start: NewStart) {
  const { tenant, now, first, state, opening } = openRun(settings, start)
  for (const event of opening) applyEvent(state, event)
  const events = [first, ...opening]
  const { runId } = start
  const isStored = await settings.store.create({ runId, tenant, events, head: buildRunHead(state, now) })
  if (!isStored) throw runExists(runId)
  return { state, events }
}

type Refuse = (cause: unknown) => void

/** Executes a new run in an actor. `stored` resolves when the run is in the store, and rejects when it is refused. */
function executeNew(
  settings: EngineSettings,
  { own, execute }: Pick<ActiveRuns, 'own' | 'execute'>,
  start: NewStart,
): { readonly stored: Promise<void>; readonly refuse: Refuse } {
  const { claim } = settings
  const { runId } = start
  const { tenant, first, state, opening } = openRun(settings, start)
  let refuse: Refuse = () => {}
  const stored = new Promise<void>((resolve, reject) => {
    refuse = reject
    const onStored = () => {
      // Also if the start was rejected meanwhile: the run is in the store, and no other engine claims it.
      if (claim === 'own') own.add(runId)
      resolve()
    }
    const create = createIn(settings, { runId, tenant, onStored })
    execute(runId, { kind: 'new', state, events: [first], opening, refuse, create })
  })
  return { stored, refuse }
}

/** Redacts known secrets on entry, so that decisions are based on exactly what is stored. */
function toStartPayload(
  { redactor }: EngineSettings,
  envelope: Envelope,
  given: Omit<StartOptions, 'runId' | 'tenant'> & {
    readonly runId: string
    readonly tenant: string | undefined
  },
): EventPayloads['start'] {
  const { runId, correlationId = runId, tenant, threadId, thread, draft, warnings = [], traceparent } = given
  return redactor.known({
    envelope,
    correlationId,
    schemaHash: schemaHash(redactor.known(envelope.outputContract.schema)),
    ...(tenant !== undefined && { tenant }),
    ...(threadId !== undefined && { threadId }),
    ...(thread && { thread }),
    ...(draft && { draft }),
    ...(warnings.length > 0 && { warnings }),
    ...(traceparent !== undefined && { traceparent }),
  })
}

function createIn(
  { store, owner, leaseMs }: EngineSettings,
  {
    runId,
    tenant,
    onStored,
  }: { readonly runId: string; readonly tenant: string; readonly onStored: () => void },
): Extract<Origin, { kind: 'new' }>['create'] {
  return async (events, head) => {
    const lease = await store.create({ runId, tenant, events, head, claim: { owner, leaseMs } })
    if (typeof lease !== 'object') throw runExists(runId)
    onStored()
    return lease
  }
}

function runExists(runId: string): ProvisoError {
  return new ProvisoError('run/exists', `There is a run "${runId}" already`)
}

function unanswered(runId: string, answerMs: number): ProvisoError {
  return new ProvisoError(
    'store/unavailable',
    `The store has not answered within ${answerMs} ms whether it holds the run "${runId}"`,
    { hint: 'Start the run again with the same id' },
  )
}
