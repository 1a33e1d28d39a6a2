/**
 * The engine of one process: starts runs, takes over what its time has come for or what a dead process left, and lets
 * actors carry them. It holds only what is at work; runs that wait live in the store.
 */
import type { Clock } from '../base/clock.ts'
import { systemClock } from '../base/clock.ts'
import { ProvisoError } from '../base/error.ts'
import type { Reply } from '../domain/ask.ts'
import type { Envelope } from '../domain/envelope.ts'
import type { EventPayloads, JournalEvent } from '../domain/event.ts'
import { begin } from '../domain/fold.ts'
import type { Draft } from '../domain/plan.ts'
import type { Catalog } from '../domain/ports/catalog.ts'
import type { Dispatcher } from '../domain/ports/dispatcher.ts'
import type { Planner } from '../domain/ports/planner.ts'
import type { Store } from '../domain/ports/store.ts'
import { createRedactor, type Redactor } from '../domain/redact.ts'
import type { RunState } from '../domain/run.ts'
import { schemaHash } from '../schema/hash.ts'
import { type Actor, type ActorContext, createActor, type Origin } from './actor.ts'
import { createChanges } from './changes.ts'
import { openingFacts } from './decide.ts'
import { fact, type Moment } from './fact.ts'
import { loadEvents, loadState, type WatchOptions, watchRun } from './journal.ts'
import { knowCapabilities } from './known-capability.ts'
import { createLookout } from './lookout.ts'
import { performAttempt } from './perform.ts'
import { draftAtHand, makePlan, proveDraft } from './planning.ts'
import { type ReplayChanges, type Replayed, replayRun } from './replay.ts'
import { cancel, reply, resume, triggerPolicy } from './replies.ts'
import { createSettling, type Settled } from './settling.ts'
import { createSlots, type SlotLimits } from './slots.ts'

export interface EngineOptions {
  readonly store: Store
  readonly catalog: Catalog
  readonly dispatchers: readonly Dispatcher[]
  /** Drafts plans for runs that come without one. */
  readonly planner?: Planner
  readonly clock?: Clock
  /** Makes ids of runs; must never give one twice. */
  readonly newId: () => string
  /** The name of this process among those on one store. */
  readonly owner: string
  /** How long a claim holds without a sign of life. Default 15 s; a sign is given three times as often. */
  readonly leaseMs?: number
  /** How often the store is asked for work that nobody told of. Default 1 s. */
  readonly pollMs?: number
  /** How long people have to answer. Default 24 h. */
  readonly askMs?: number
  readonly limits?: SlotLimits
  /** What must not leave. Default: by the names of keys. */
  readonly redactor?: Redactor
  /** Keep what models wrote, redacted, in the journal. Default true. */
  readonly storeRaw?: boolean
  /**
   * Whose runs are carried on here. `all` (default): every run of the store that needs somebody. `own`: only those that were
   * started, answered, resumed or cancelled through this engine; for a process that knows no other's capabilities.
   */
  readonly carry?: 'all' | 'own'
  /** Whether a text or value that this kind of capability brings could have been written by strangers. */
  readonly untrustedKinds?: readonly string[]
  /** A run could not go on here for a reason that nobody foresaw; another claim will try again. */
  readonly onCrash?: (runId: string, cause: unknown) => void
}

export interface StartOptions {
  readonly runId?: string
  readonly tenant?: string
  readonly threadId?: string
  readonly correlationId?: string
  /** A plan written by hand instead of a planner's. */
  readonly draft?: Draft
}

export interface Engine {
  /** Stores the run, starts it and returns its id; it goes on whether or not anybody watches. */
  start(envelope: Envelope, options?: StartOptions): Promise<string>
  /** Resolves when the run is over, or waits for a person. */
  settled(runId: string, signal?: AbortSignal): Promise<Settled>
  state(runId: string): Promise<RunState>
  /** Decides a recorded run again, with zero calls. */
  replay(runId: string, changes?: ReplayChanges): Promise<Replayed>
  watch(runId: string, options?: WatchOptions): AsyncGenerator<JournalEvent, void, void>
  reply(runId: string, reply: Reply): Promise<void>
  cancel(runId: string, given: { by: string; reason?: string }): Promise<void>
  resume(runId: string, given: { by: string; note?: string; expectedPlanVersion?: number }): Promise<void>
  trigger(runId: string, given: { policyId: string; by: string }): Promise<void>
  /** Carries on a run that a dead process left, as soon as its lease has run out; needed with `carry: 'own'` alone. */
  adopt(runId: string): Promise<void>
  /** Begins to look for work in the store: due timers, replies given elsewhere, runs of dead processes. */
  open(): void
  /** Starts nothing more, lets attempts in flight end for at most `graceMs` (default 5 s), gives every lease back, and stops. */
  close(options?: { readonly graceMs?: number }): Promise<void>
  /** Runs that are being carried here at this moment. */
  readonly active: number
  /** Attempts that are in flight here at this moment. */
  readonly attempts: number
}

export function createEngine(options: EngineOptions): Engine {
  const { store, catalog, owner, clock = systemClock } = options
  const leaseMs = options.leaseMs ?? 15_000
  const pollMs = options.pollMs ?? 1_000
  const carriesAll = options.carry !== 'own'
  const capability = knowCapabilities(catalog, options.untrustedKinds)
  const redactor = options.redactor ?? createRedactor()
  const actors = new Map<string, Actor>()
  /** Those whose run could not be stored. */
  const refused = new WeakSet<Actor>()
  /** Runs on their way into the store. */
  const creating = new Map<string, Promise<void>>()
  /** Runs that went through this engine and are not over; kept for `carry: 'own'` alone. */
  const own = new Set<string>()
  const changes = createChanges(store, clock, pollMs)
  const dispatchers = new Map(options.dispatchers.map((dispatcher) => [dispatcher.kind, dispatcher]))
  const slots = createSlots(options.limits ?? {}, (runId) => {
    const actor = actors.get(runId)
    if (actor) actor.poke()
    else slots.done(runId, { more: false })
  })
  let closed = false

  const moment = (): Moment => ({
    now: clock.now(),
    askMs: options.askMs ?? 24 * 3_600_000,
    capability,
  })

  const context: ActorContext = {
    store,
    clock,
    slots,
    moment,
    perform: (state, start, work) =>
      performAttempt({
        catalog,
        dispatchers,
        clock,
        state,
        start,
        work,
        redactor,
        storeRaw: options.storeRaw ?? true,
      }),
    planAtHand(state) {
      const draft = draftAtHand(state)
      return draft && proveDraft(state, catalog, draft)
    },
    plan: (state, signal) => makePlan({ state, catalog, planner: options.planner, signal }),
    onIdle(actor, state, more) {
      if (!more) settling.tell(actor.runId, state)
      dismiss(actor)
      if (state.finished) own.delete(actor.runId)
      if (more) lookout.wakeAt(clock.now())
      for (const { dueAt } of state.timers.values()) lookout.wakeAt(dueAt)
    },
    onLost: (actor) => dismiss(actor),
    onCrash(actor, cause) {
      dismiss(actor)
      // Whoever wanted to start the run has been told why it was not.
      if (!refused.has(actor)) options.onCrash?.(actor.runId, cause)
    },
  }

  /** A run whose lease ran out may have been claimed anew by this very process: the old actor must not take the new one along. */
  const dismiss = (actor: Actor) => {
    if (actors.get(actor.runId) === actor) actors.delete(actor.runId)
    changes.tell(actor.runId)
  }

  const carry = (runId: string, origin: Origin) => {
    actors.get(runId)?.stop()
    const actor = createActor(runId, context, origin)
    actors.set(runId, actor)
    actor.poke()
    return actor
  }

  const stopListening = store.onChange((runId, seq) => {
    const actor = actors.get(runId)
    if (actor) actor.heard(seq)
  })

  const lookout = createLookout({
    store,
    clock,
    owner,
    leaseMs,
    pollMs,
    own: carriesAll ? undefined : own,
    actors,
    carry: ({ runId, lease }) => carry(runId, { kind: 'claimed', lease }),
    dismiss,
    onError: (cause) => options.onCrash?.('', cause),
  })
  const settling = createSettling({
    store,
    changes,
    isCarried: (runId) => actors.has(runId),
    isClosed: () => closed,
  })

  const outside = { store, moment }
  /** After something came from outside: the actor here hears of it, or the run is claimed. */
  const afterwards = (runId: string, state: RunState) => {
    if (!carriesAll && !state.finished) own.add(runId)
    const actor = actors.get(runId)
    if (actor) actor.heard(state.seq)
    else if (!state.finished) lookout.wakeAt(clock.now())
  }

  return {
    async start(envelope, given = {}) {
      if (closed) throw new ProvisoError('engine/closed', 'The engine is closed')
      const runId = given.runId ?? options.newId()
      // While it is being stored for somebody else, nobody can say that it exists.
      while (creating.has(runId)) await creating.get(runId)
      if (actors.get(runId)?.lease) throw new ProvisoError('run/exists', `There is a run "${runId}" already`)
      const { now } = moment()
      const payload: EventPayloads['start'] = {
        envelope,
        correlationId: given.correlationId ?? runId,
        schemaHash: schemaHash(envelope.outputContract.schema),
        ...(given.threadId !== undefined && { threadId: given.threadId }),
        ...(given.draft && { draft: given.draft }),
      }
      const first = fact('start', payload, { now, planVersion: 0 })
      const state = begin(runId, first)
      const stored = new Promise<void>((resolve, reject) => {
        const refuse = (cause: unknown): never => {
          refused.add(actor)
          reject(cause)
          throw cause
        }
        const actor = carry(runId, {
          kind: 'new',
          state,
          events: [first],
          opening: openingFacts(state, moment()),
          async create(events, head) {
            const claim = { owner, leaseMs }
            const lease = await store
              .create({ runId, tenant: given.tenant ?? 'default', events, head, claim })
              .catch(refuse)
            if (typeof lease !== 'object')
              return refuse(new ProvisoError('run/exists', `There is a run "${runId}" already`))
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
      if (!carriesAll) own.add(runId)
      return runId
    },
    settled: settling.wait,
    state: (runId) => loadState(store, runId),
    async replay(runId, given = {}) {
      const { askMs } = moment()
      return replayRun(await loadEvents(store, runId), { ...given, capability, askMs })
    },
    watch: (runId, given = {}) => watchRun(store, changes, { ...given, runId }),
    async reply(runId, given) {
      afterwards(runId, await reply(outside, runId, given))
    },
    async cancel(runId, given) {
      afterwards(runId, await cancel(outside, runId, given))
    },
    async resume(runId, given) {
      afterwards(runId, await resume(outside, runId, given))
    },
    async trigger(runId, given) {
      afterwards(runId, await triggerPolicy(outside, runId, given))
    },
    async adopt(runId) {
      afterwards(runId, await loadState(store, runId))
    },
    open: lookout.open,
    async close({ graceMs = 5_000 } = {}) {
      if (closed) return
      closed = true
      lookout.close()
      slots.close()
      const until = clock.now() + graceMs
      const atWork = () => slots.taken > 0 || [...actors.values()].some((actor) => actor.busy)
      while (atWork() && clock.now() < until) {
        const next = Math.min(clock.now() + shortestPause, until)
        await new Promise<void>((resolve) => clock.timer(next, resolve))
      }
      const left = [...actors.values()]
      for (const actor of left) actor.stop()
      actors.clear()
      // Whoever comes next need not wait for the leases to run out.
      await Promise.allSettled(left.map(({ runId, lease }) => lease && store.release(runId, lease)))
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

/** How often `close` looks whether attempts have ended. */
const shortestPause = 50
