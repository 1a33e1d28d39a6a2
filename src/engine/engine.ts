/**
 * The engine of one process: starts runs, claims due and abandoned runs, and executes each in an actor. Only active runs
 * are in memory; waiting runs are in the store.
 */

import { ProvisoError } from '../base/errors/error.ts'
import { systemClock } from '../base/time/clock.ts'
import type { DoubtfulCall } from '../domain/attempt/call-key.ts'
import type { LeftNotice } from '../domain/event/lifecycle.ts'
import type { EventPayloads } from '../domain/event.ts'
import type { Catalog } from '../domain/ports/catalog.ts'
import { createRedactor } from '../domain/redaction/redact.ts'
import { begin } from '../domain/run/fold.ts'
import type { RunState } from '../domain/run.ts'
import { rememberProofs } from '../plan/index.ts'
import { schemaHash } from '../schema/hash.ts'
import { knowCapabilities, missingCapabilities } from './capabilities/missing-capabilities.ts'
import { considerCapabilities } from './capabilities/planning-input.ts'
import { createElsewhere } from './claim/claim-back-off.ts'
import { createLookout } from './claim/run-poller.ts'
import { openingFacts } from './decide/decide.ts'
import type { Engine, EngineOptions } from './engine-options.ts'
import { fact, type Moment } from './events.ts'
import { openQuestionAbout, recordLateResult, settlesDoubt } from './input/late-result.ts'
import { cancel, type Outside, reply, resume, triggerPolicy } from './input/replies.ts'
import { loadEvents, loadState, watchRun } from './journal/journal.ts'
import { createLifecycle } from './journal/lifecycle-listeners.ts'
import { firstTimer, statusOf } from './journal/run-head.ts'
import { createSettling } from './journal/run-waiters.ts'
import { createChanges } from './journal/watch-changes.ts'
import { lookForAnswer, performAttempt } from './perform/perform.ts'
import { replayRun } from './replay/replay.ts'
import { draftAtHand, makePlan, proveDraft } from './run-loop/planning.ts'
import { createActor } from './run-loop/run-actor.ts'
import type { Actor, ActorContext, Origin } from './run-loop/run-actor-context.ts'
import { createSlots } from './run-loop/slots.ts'

export type { Engine, EngineOptions, StartOptions } from './engine-options.ts'

export function createEngine(options: EngineOptions): Engine {
  const { store, catalog, owner, clock = systemClock } = options
  const leaseMs = options.leaseMs ?? 15_000
  const pollMs = options.pollMs ?? 1_000
  const { carry: whose = 'all' } = options
  const redactor = options.redactor ?? createRedactor()
  const actors = new Map<string, Actor>()
  /** Runs being written to the store. */
  const creating = new Map<string, Promise<void>>()
  /** Unfinished runs that went through this engine; used with `carry: 'own'` only. */
  const own = new Set<string>()
  const changes = createChanges(store, clock, pollMs)
  const lifecycle = createLifecycle()
  const dispatchers = new Map(options.dispatchers.map((dispatcher) => [dispatcher.kind, dispatcher]))
  const slots = createSlots(options.limits ?? {}, (runId) => {
    const actor = actors.get(runId)
    if (actor) actor.wake()
    else slots.done(runId, { more: false })
  })
  let closed = false

  const prove = rememberProofs()
  const know = knowCapabilities(options.untrustedKinds)
  /** Returns the part of the catalog that the tenant can see. */
  const catalogFor = (tenant: string): Catalog => catalog.forTenant?.(tenant) ?? catalog
  const moment = (tenant: string): Moment => ({
    now: clock.now(),
    considered: (state) => considerCapabilities(state, catalogFor(tenant)),
    askMs: options.askMs ?? 24 * 3_600_000,
    capability: know(catalogFor(tenant)),
  })

  const context: ActorContext = {
    store,
    clock,
    slots,
    moment,
    perform: (state, start, work) =>
      performAttempt({
        catalog: catalogFor(state.tenant),
        dispatchers,
        clock,
        random: options.random,
        state,
        start,
        work,
        redactor,
        storeRaw: options.storeRaw ?? true,
      }),
    turn: options.turn,
    planAtHand(state) {
      const draft = draftAtHand(state)
      return (
        draft &&
        proveDraft({ state, catalog: catalogFor(state.tenant), prove, estimate: options.estimate }, draft)
      )
    },
    plan: (state, signal) =>
      makePlan({
        state,
        catalog: catalogFor(state.tenant),
        planner: options.planner,
        redactor,
        signal,
        prove,
        estimate: options.estimate,
      }),
    onLateResult(runId, ref, result) {
      const note = 'A late result of the interrupted call answered it'
      // If the store is unavailable, the late result is dropped and the ask stays open.
      void recordLateResult(outside, runId, { ref, result, note, settles: settlesDoubt(result) })
        .then((state) => afterwards(runId, state))
        .catch(() => {})
    },
    onAppended(state, events) {
      lifecycle.appended(state, events, 'carrier')
      for (const event of events)
        if (event.type === 'hitl_request' && event.payload.kind === 'unknown_outcome')
          // The answer may have arrived while no process had the run.
          void takeLateAnswer(state.runId, (_, nodeId) => nodeId === event.nodeId).catch(() => {})
    },
    onIdle(actor, state, { more, missing }) {
      const { runId } = actor
      if (!more) settling.tell(runId, state)
      dismiss(actor, 'rests', state)
      if (state.finished) own.delete(runId)
      if (missing.length === 0 || more) elsewhere.forget(runId)
      else {
        elsewhere.put(runId, { tenant: state.tenant, missing }, firstTimer(state))
        options.onMissing?.(runId, missing)
      }
      if (more) lookout.wakeAt(clock.now())
      for (const { dueAt } of state.timers.values()) lookout.wakeAt(dueAt)
    },
    onLost: (actor) => dismiss(actor, 'lost'),
    onCrash(actor, cause) {
      if (actors.get(actor.runId) === actor) settling.crashed(actor.runId, cause)
      dismiss(actor, 'crashed')
      options.onCrash?.(actor.runId, cause)
    },
  }

  /**
   * Removes an actor. The same process may have claimed the run again after its lease expired: the old actor must not
   * remove the new one.
   */
  const dismiss = (actor: Actor, why: LeftNotice['why'], state?: RunState) => {
    if (actors.get(actor.runId) === actor) {
      actors.delete(actor.runId)
      lifecycle.tell({ kind: 'left', runId: actor.runId, why, ...(state && { status: statusOf(state) }) })
    }
    changes.tell(actor.runId)
  }

  const carry = (runId: string, origin: Origin) => {
    actors.get(runId)?.stop()
    settling.goesOn(runId)
    const actor = createActor(runId, context, origin)
    actors.set(runId, actor)
    actor.wake()
  }

  const elsewhere = createElsewhere({
    clock,
    firstMs: pollMs,
    knows: (capabilityId, tenant) => catalogFor(tenant).capability(capabilityId) !== undefined,
  })
  const stopListening = store.onChange((runId, seq) => {
    elsewhere.forget(runId)
    settling.goesOn(runId)
    const actor = actors.get(runId)
    if (actor) actor.notify(seq)
  })

  const lookout = createLookout({
    store,
    clock,
    owner,
    leaseMs,
    pollMs,
    own: whose === 'all' ? undefined : own,
    elsewhere: elsewhere.ids,
    actors,
    carry: ({ runId, lease }) => carry(runId, { kind: 'claimed', lease }),
    dismiss: (actor) => dismiss(actor, 'lost'),
    onError: (cause) => options.onCrash?.('', cause),
  })
  const settling = createSettling({
    store,
    changes,
    isCarried: (runId) => actors.has(runId),
    isClosed: () => closed,
  })

  const outside: Outside = {
    store,
    moment,
    onAppended: (state, events) => lifecycle.appended(state, events, 'outside'),
  }
  /** Called after external input: notifies the local actor, or claims the run. */
  const afterwards = (runId: string, state: RunState) => {
    elsewhere.forget(runId)
    if (whose === 'none') return
    if (whose === 'own' && !state.finished) own.add(runId)
    const actor = actors.get(runId)
    if (actor) actor.notify(state.seq)
    else if (!state.finished) lookout.wakeAt(clock.now())
  }

  /** Closes the ask about a call whose answer is in the store by now. */
  const takeLateAnswer = async (runId: string, isMeant: (call: DoubtfulCall, nodeId: string) => boolean) => {
    const state = await loadState(store, runId)
    const question = openQuestionAbout(state, isMeant)
    if (question === undefined) return
    const { call, nodeId } = question
    const shared = { catalog: catalogFor(state.tenant), dispatchers, clock, redactor, random: options.random }
    const result = await lookForAnswer({ ...shared, state, nodeId, call, storeRaw: options.storeRaw ?? true })
    // The attempt may have ended with this same answer, which adds no information to the ask.
    if (result === undefined || result.outcome === call.outcome) return
    const note = `"${call.capabilityId}" called back: its answer counts`
    afterwards(runId, await recordLateResult(outside, runId, { ref: call, result, note, settles: true }))
  }

  return {
    async start(envelope, given = {}) {
      if (closed) throw new ProvisoError('engine/closed', 'The engine is closed')
      if (whose === 'none')
        throw new ProvisoError('option/invalid', 'An engine that carries nothing starts no run', {
          hint: 'Open it with carry: "all" or "own"',
        })
      const runId = given.runId ?? options.newId()
      // A concurrent start with the same id may still fail: only after it ends is it known whether the run exists.
      while (creating.has(runId)) await creating.get(runId)
      if (actors.get(runId)?.lease) throw new ProvisoError('run/exists', `There is a run "${runId}" already`)
      const { tenant = 'default' } = given
      const { now } = moment(tenant)
      // Redacts known secrets on entry, so that decisions are based on exactly what is stored.
      const payload: EventPayloads['start'] = redactor.known({
        envelope,
        correlationId: given.correlationId ?? runId,
        schemaHash: schemaHash(redactor.known(envelope.outputContract.schema)),
        ...(given.tenant !== undefined && { tenant }),
        ...(given.threadId !== undefined && { threadId: given.threadId }),
        ...(given.draft && { draft: given.draft }),
        ...(given.warnings && given.warnings.length > 0 && { warnings: given.warnings }),
        ...(given.traceparent !== undefined && { traceparent: given.traceparent }),
      })
      const first = fact('start', payload, { now, planVersion: 0 })
      const state = begin(runId, first)
      const stored = new Promise<void>((resolve, reject) => {
        carry(runId, {
          kind: 'new',
          state,
          events: [first],
          opening: openingFacts(state, moment(tenant)),
          refuse: reject,
          async create(events, head) {
            const claim = { owner, leaseMs }
            const lease = await store.create({ runId, tenant, events, head, claim })
            if (typeof lease !== 'object')
              throw new ProvisoError('run/exists', `There is a run "${runId}" already`)
            resolve()
            return lease
          },
        })
      })
      creating.set(
        runId,
        stored.catch(() => {}).finally(() => creating.delete(runId)),
      )
      await stored
      if (whose === 'own') own.add(runId)
      return runId
    },
    settled: settling.wait,
    state: (runId) => loadState(store, runId),
    async missing(runId, answer) {
      const state = await loadState(store, runId)
      return missingCapabilities(state, moment(state.tenant).capability, answer)
    },
    async replay(runId, given = {}) {
      const events = await loadEvents(store, runId)
      const [first] = events
      const { capability, askMs } = moment((first?.type === 'start' && first.payload.tenant) || 'default')
      return replayRun(events, { ...given, capability, askMs })
    },
    watch: (runId, given = {}) => watchRun(store, changes, { ...given, runId }),
    async reply(runId, given) {
      afterwards(runId, await reply(outside, runId, redactor.known(given)))
    },
    async cancel(runId, given) {
      afterwards(runId, await cancel(outside, runId, redactor.known(given)))
    },
    async resume(runId, given) {
      afterwards(runId, await resume(outside, runId, redactor.known(given)))
    },
    async trigger(runId, given) {
      afterwards(runId, await triggerPolicy(outside, runId, given))
    },
    takeLateAnswer: (runId, idempotencyKey) =>
      takeLateAnswer(runId, (call) => call.idempotencyKey === idempotencyKey),
    async logLateResult(runId, ref, outcome) {
      const result = { outcome, issues: [], usage: { calls: 0 } }
      await recordLateResult(outside, runId, { ref, result, settles: false, note: '' })
    },
    async adopt(runId) {
      afterwards(runId, await loadState(store, runId))
    },
    subscribeToLifecycle: lifecycle.subscribe,
    open: lookout.open,
    async close({ graceMs = 5_000 } = {}) {
      if (closed) return
      closed = true
      lookout.close()
      slots.close()
      const until = clock.now() + graceMs
      const letGo = async (left: readonly Actor[]) => {
        for (const actor of left) {
          actor.stop()
          actors.delete(actor.runId)
          lifecycle.tell({ kind: 'left', runId: actor.runId, why: 'closed' })
        }
        // Releases the leases, so that the next process need not wait for them to expire.
        const released = Promise.allSettled(
          left.map(({ runId, lease }) => lease && store.release(runId, lease)),
        )
        // An unavailable store must not block the shutdown: then the leases expire.
        await new Promise<void>((resolve) => {
          const takeBack = clock.timer(clock.now() + longestRelease, resolve)
          void released.then(takeBack).then(resolve)
        })
      }
      const all = () => [...actors.values()]
      while (all().some((actor) => actor.busy) && clock.now() < until) {
        const next = Math.min(clock.now() + shortestPause, until)
        await new Promise<void>((resolve) => clock.timer(next, resolve))
        // Idle runs are released early: another process can continue them before the slowest call here ends.
        await letGo(all().filter((actor) => !actor.busy))
      }
      await letGo(all())
      lookout.end()
      stopListening()
      changes.close()
    },
    get active() {
      return actors.size
    },
    get attempts() {
      return slots.taken
    },
  }
}

/** Maximum time for the store to release leases. */
const longestRelease = 2_000
/** How often `close` checks whether attempts have ended. */
const shortestPause = 50
