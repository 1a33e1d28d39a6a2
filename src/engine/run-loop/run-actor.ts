/**
 * One active run in this process: the shell around the state machine in `turn.ts`. Passes every input to it, one at a
 * time, and carries out the effects it returns. Holds only what cannot be a value: the calls in flight, the timer and the
 * planner's abort signal.
 */
import { ProvisoError } from '../../base/errors/error.ts'
import { joined } from '../../base/json.ts'
import { createStop, RunMovedOn, type Stop } from '../../base/stop.ts'
import type { AttemptRef } from '../../domain/attempt/call-key.ts'
import type { JournalEvent, NewEvent } from '../../domain/event.ts'
import type { AttemptResult, Usage } from '../../domain/output.ts'
import { getPriority } from '../../domain/placement.ts'
import type { Append, AppendResult, HeadUpdate, Lease } from '../../domain/ports/store.ts'
import { fold } from '../../domain/run/fold.ts'
import type { RunState } from '../../domain/run.ts'
import { type AttemptLocation, orphanFacts } from '../decide/decide.ts'
import { type Decisions, decideUntilIdle, type TakeSlot } from '../decide/decide-until-idle.ts'
import type { CallInFlight, DecisionContext } from '../events.ts'
import {
  type ActorState,
  createActorState,
  type Dispatch,
  type Effect,
  type Ended,
  type Handler,
  type Input,
  isBusy,
  toMissingForPlan,
  toPendingEvents,
} from './actor-state.ts'
import type { Actor, ActorContext, Origin, Work } from './run-actor-context.ts'
import { turn } from './turn.ts'

export function createActor(runId: string, context: ActorContext, origin: Origin): Actor {
  const { slots, clock } = context
  let state = createActorState(
    runId,
    origin.kind === 'claimed'
      ? { run: undefined, lease: origin.lease }
      : { run: origin.state, lease: undefined, unsaved: origin.events, opening: origin.opening },
  )
  const calls = createCalls(context, runId, (input) => dispatch(input))
  const storage = createStorage(context, origin, (input) => dispatch(input))
  let planning: AbortController | undefined
  let cancelTimer = () => {}
  const wake = () => dispatch({ kind: 'wake' })

  const handlers: { readonly [K in Effect['kind']]: Handler<K> } = {
    read: () => storage.read(runId),
    create: ({ run, events, head }) => storage.create(run, events, head),
    append: ({ run, append }) => storage.append(run, append),
    'release-lease': ({ lease }) => storage.release(runId, lease),
    decide({ run, isReread }) {
      const decisionContext = { call: calls.usageOf(run), ...context.decisionContext(run.tenant) }
      const { now } = decisionContext
      const step = decideTurn(state, { run, isReread, decisionContext }, context)
      dispatch({ kind: 'decided', step, now, canBeAhead: context.canBeAhead(run, step.events) })
    },
    'end-slot-turn': ({ more }) =>
      slots.done(runId, {
        more,
        ...(state.run && { tenant: state.run.tenant, priority: getPriority(state.run.envelope) }),
      }),
    'release-slots'({ capabilityIds }) {
      for (const capabilityId of capabilityIds) slots.release(capabilityId, state.run?.tenant)
    },
    'occupy-slot': ({ capabilityId }) => slots.occupy(capabilityId, state.run?.tenant),
    call: calls.start,
    'stop-calls': ({ calls: over }) => calls.stop(over),
    'end-stopped-calls': ({ calls: over }) => calls.endStopped(over),
    interrupt: ({ calls: over }) => calls.interrupt(over),
    'abandon-calls': calls.abandon,
    confirm: calls.confirm,
    'report-late': ({ ended }) => context.onLateResult(runId, ended, ended.result),
    plan({ run, request, considered }) {
      planning = new AbortController()
      context
        .plan(run, { signal: planning.signal, considered })
        .then((result) => dispatch({ kind: 'planned', planned: { request, result } }))
        .catch((cause: unknown) => dispatch({ kind: 'crashed', cause }))
    },
    'set-timer'({ at }) {
      cancelTimer()
      cancelTimer = at === undefined ? () => {} : clock.timer(at, wake)
    },
    pace() {
      if (context.turn === undefined) dispatch({ kind: 'paced' })
      else void context.turn().then(() => dispatch({ kind: 'paced' }))
    },
    'end-turn': () => void nextMicrotask.then(() => dispatch({ kind: 'turn-ended' })),
    'stop-waiting'() {
      cancelTimer()
      planning?.abort()
    },
    'report-idle': ({ run, idle }) => context.onIdle(actor, run, idle),
    'report-lost': () => context.onLost(actor),
    'report-crash': ({ cause }) => context.onCrash(actor, cause),
    refuse: ({ cause }) => origin.kind === 'new' && origin.refuse(cause),
  }

  const dispatch = createQueue(
    (input) => {
      const next = turn(state, input)
      state = next.state
      // The table has one entry per kind; the index loses which kind belongs to which effect.
      for (const effect of next.effects) (handlers[effect.kind] as Handler<Effect['kind']>)(effect)
    },
    () => clock.now(),
  )

  const actor: Actor = {
    runId,
    get lease() {
      return state.lease
    },
    get calls() {
      return [...state.calls.values()].filter(({ isAccepted }) => !isAccepted)
    },
    get busy() {
      return isBusy(state)
    },
    get isWriting() {
      return state.phase.kind === 'writing' || state.phase.kind === 'releasing'
    },
    get isUnloaded() {
      return state.run === undefined
    },
    wake,
    notify: (seq) => dispatch({ kind: 'notified', seq }),
    stop: () => dispatch({ kind: 'stop' }),
  }
  return actor
}

const nextMicrotask = Promise.resolve()

/** Takes one input at a time: inputs that arrive while effects are carried out wait until these are done. */
function createQueue(take: Dispatch, now: () => number): Dispatch {
  const waiting: Input[] = []
  let isTaking = false
  return (given) => {
    waiting.push(given)
    if (isTaking) return
    isTaking = true
    try {
      for (let input = waiting.shift(); input !== undefined; input = waiting.shift()) {
        try {
          take(input)
        } catch (cause) {
          // An error while a failure is reported has no other handler.
          if (input.kind === 'failed' || input.kind === 'crashed') throw cause
          waiting.unshift(toFailure(cause, now()))
        }
      }
    } finally {
      isTaking = false
    }
  }
}

/** An error with the fate `retry`, such as a database that restarts, may be over after a while. */
function toFailure(cause: unknown, now: number): Input {
  return { kind: 'failed', cause, isRetryable: cause instanceof ProvisoError && cause.fate === 'retry', now }
}

const pageSize = 5000

/** Reads and writes the run, and passes the results on as inputs. */
function createStorage(context: ActorContext, origin: Origin, dispatch: Dispatch) {
  const { store, clock, onAppended } = context
  /** The catalog here may be older than the run: another process has started it. */
  let catalog = origin.kind === 'claimed' ? context.updateCatalog?.(origin.tenant) : undefined
  const fail = (cause: unknown) => toFailure(cause, clock.now())
  const failed = (cause: unknown) => dispatch(fail(cause))
  /** Dispatches the answer of the store. One callback instead of a chain of them: this runs for every write. */
  const answerTo = <T>(written: Promise<T>, toInput: (answer: T) => Input) =>
    void written.then((answer) => {
      let input: Input
      try {
        input = toInput(answer)
      } catch (cause) {
        input = fail(cause)
      }
      dispatch(input)
    }, failed)
  return {
    read(runId: string) {
      const tenant = origin.kind === 'claimed' ? origin.tenant : origin.state.tenant
      const registered = catalog
      catalog = undefined
      const reading = context.reads.read(tenant, () => {
        const read = readRun(context, runId)
        return registered ? Promise.all([read, registered]).then(([run]) => run) : read
      })
      reading.then((run) => dispatch({ kind: 'read', run }), failed)
    },
    create(run: RunState, events: readonly NewEvent[], head: HeadUpdate) {
      if (origin.kind !== 'new') throw new Error('A claimed run has a lease')
      const onCreated = (lease: Lease): Input => {
        // In the same step in which the start is reported: the engine may be closed next, and then releases the lease.
        dispatch({ kind: 'leased', lease })
        onAppended(run, events)
        return { kind: 'written', result: 'created' }
      }
      answerTo(origin.create(events, head), onCreated)
    },
    append(run: RunState, append: Append) {
      const onWritten = (result: AppendResult): Input => {
        if (result.kind === 'appended') onAppended(run, append.events, result.durable)
        return { kind: 'written', result: result.kind }
      }
      answerTo(store.append(append), onWritten)
    },
    release(runId: string, lease: Lease) {
      store.release(runId, lease).then(() => dispatch({ kind: 'released' }), failed)
    },
  }
}

async function readRun(
  { store, compileOptions }: ActorContext,
  runId: string,
): Promise<RunState | undefined> {
  const events: JournalEvent[] = []
  for (;;) {
    const page = await store.read(runId, events.at(-1)?.seq ?? 0, pageSize)
    events.push(...page)
    if (page.length < pageSize) return fold(events, compileOptions)
  }
}

// The decisions of one turn: folds the new events into the run and decides until only calls are left.

/** Folds events into `run` in place. `isReread`: running attempts that this process does not know end with an unknown outcome. */
function decideTurn(
  state: ActorState,
  {
    run,
    isReread,
    decisionContext,
  }: { readonly run: RunState; readonly isReread: boolean; readonly decisionContext: DecisionContext },
  { slots, planAtHand }: Pick<ActorContext, 'slots' | 'planAtHand'>,
): Decisions {
  const takeSlot: TakeSlot = (capabilityId, hasAlternate) =>
    slots.take(state.runId, capabilityId, { tenant: run.tenant, hasAlternate })
  const decideAfter = (happened: readonly NewEvent[]) =>
    decideUntilIdle(run, decisionContext, { happened, takeSlot })
  let done = decideAfter([
    ...state.opening,
    ...toPendingEvents(run, decisionContext.now, state.taken),
    ...(isReread ? orphanFacts(run, decisionContext, locateAttempts(state)) : []),
  ])
  const missing = toMissingForPlan(run, state.taken)
  if (done.plan && missing.length > 0) return { ...done, plan: false, missing }
  // A draft that came with the envelope is proved at once, so that it needs no turn of its own.
  while (done.plan) {
    const result = planAtHand(run)
    if (!result) break
    const next = decideAfter(result(run, decisionContext.now))
    done = {
      ...next,
      events: [...done.events, ...next.events],
      starts: [...done.starts, ...next.starts],
    }
  }
  return done
}

function locateAttempts({ calls, taken, unsent }: ActorState) {
  return (nodeId: string, attempt: number): AttemptLocation => {
    if (calls.get(nodeId)?.attempt === attempt) return 'here'
    if (taken.ended.some((end) => end.nodeId === nodeId && end.attempt === attempt)) return 'here'
    return unsent.get(nodeId) === attempt ? 'never-left' : 'unknown'
  }
}

// The calls in flight of one active run: makes the calls of started attempts, and passes their results on as inputs.

/** The handle of a call in flight. */
interface Flight {
  readonly ref: AttemptRef
  readonly stop: Stop
  /** Releases the slot, once. */
  readonly release: () => void
  /** Usage that the call has reported. */
  spent: Usage
  /** It was aborted while the end of its attempt is written; what it brings until then. */
  stopped: { result?: AttemptResult } | undefined
  /** The run does not wait for it any more: its result is a late result. */
  isInterrupted: boolean
}

function createCalls({ perform, slots, onLateResult }: ActorContext, runId: string, dispatch: Dispatch) {
  const flights = new Map<string, Flight>()
  /** Attempts that wait until their facts are written. */
  const waiting = new Map<number, { readonly resolve: () => void; readonly reject: (cause: Error) => void }>()
  let recordings = 0

  const start: Handler<'call'> = ({ call: { nodeId, attempt, planVersion }, start, run }) => {
    const ref = { nodeId, attempt, planVersion }
    const logs: Ended['logs'][number][] = []
    const stop = createStop()
    const release = once(() => slots.release(start.capabilityId, run.tenant))
    const flight: Flight = {
      ref,
      stop,
      release,
      spent: { calls: 1 },
      stopped: undefined,
      isInterrupted: false,
    }
    flights.set(nodeId, flight)
    const work: Work = {
      stop,
      log: (event, payload) => logs.push({ event, ...(payload && { payload }) }),
      onAccepted(deadlineAt) {
        if (flight.stopped || flight.isInterrupted) return
        dispatch({ kind: 'accepted', accepted: { ...ref, agent: start.capabilityId, deadlineAt } })
      },
      onUsage(spent) {
        flight.spent = spent
      },
      record(facts) {
        if (stop.aborted || flight.isInterrupted) return Promise.reject(attemptOver())
        const id = ++recordings
        return new Promise((resolve, reject) => {
          waiting.set(id, { resolve, reject })
          dispatch({ kind: 'recorded', recorded: { ...ref, id, facts } })
        })
      },
      onLateResult(result) {
        if (flight.isInterrupted) onLateResult(runId, ref, result)
        else if (flight.stopped) flight.stopped.result = result
      },
    }
    const end = (result: AttemptResult) => {
      release()
      if (flight.isInterrupted) return
      // Whether its attempt has ended is known when the append is answered.
      if (flight.stopped && result.outcome === 'cancelled') return
      flights.delete(nodeId)
      dispatch({ kind: 'ended', ended: joined(ref, { result, logs }) })
    }
    perform(run, start, work)
      .then(end)
      .catch((cause: unknown) => {
        release()
        dispatch({ kind: 'crashed', cause })
      })
  }

  const confirm: Handler<'confirm'> = ({ recorded: { id }, isWritten }) => {
    const recording = waiting.get(id)
    waiting.delete(id)
    if (isWritten) recording?.resolve()
    else recording?.reject(attemptOver())
  }

  return {
    start,
    confirm,
    /** Reports what is known of the call of a running attempt; one that is not in flight here was started in this turn. */
    usageOf:
      (run: RunState) =>
      (nodeId: string, attempt: number): CallInFlight => {
        const flight = flights.get(nodeId)
        if (flight?.ref.attempt === attempt) return { spent: flight.spent }
        // Another process may have made a call that was accepted.
        return run.nodes.get(nodeId)?.attempt?.accepted ? { spent: { calls: 1 } } : 'not-sent'
      },
    ...createInterrupts(flights, { report: (ref, result) => onLateResult(runId, ref, result), dispatch }),
    abandon() {
      for (const { stop } of flights.values()) stop.abort(new Error('The run has left this process'))
      for (const { reject } of waiting.values()) reject(attemptOver())
      waiting.clear()
    },
  }
}

interface InterruptParts {
  readonly report: (ref: AttemptRef, result: AttemptResult) => void
  readonly dispatch: Dispatch
}

/** Ends calls that the run moves on without. None is waited for: a capability may ignore its signal. */
function createInterrupts(flights: Map<string, Flight>, { report, dispatch }: InterruptParts) {
  const find = ({ nodeId, attempt }: AttemptRef) => {
    const flight = flights.get(nodeId)
    return flight?.ref.attempt === attempt ? flight : undefined
  }
  const drop = (flight: Flight) => {
    flight.isInterrupted = true
    flights.delete(flight.ref.nodeId)
    flight.release()
  }
  return {
    stop(calls: readonly AttemptRef[]) {
      for (const flight of calls.map(find)) {
        if (flight === undefined) continue
        flight.stopped = {}
        flight.stop.abort(new RunMovedOn('The run moved on'))
      }
    },
    endStopped(calls: readonly AttemptRef[]) {
      for (const flight of calls.map(find)) {
        if (flight?.stopped === undefined) continue
        drop(flight)
        const { ref, stopped, spent } = flight
        const issues = [{ code: 'attempt/interrupted', at: { pointer: '' }, message: 'The call was stopped' }]
        const { result = { outcome: 'outcome_unknown', issues, usage: spent } } = stopped
        dispatch({ kind: 'ended', ended: joined(ref, { result, logs: [] }) })
      }
    },
    interrupt(calls: readonly AttemptRef[]) {
      for (const flight of calls.map(find)) {
        if (flight === undefined) continue
        drop(flight)
        flight.stop.abort(new RunMovedOn('The run moved on'))
        if (flight.stopped?.result) report(flight.ref, flight.stopped.result)
      }
    },
  }
}

function attemptOver(): Error {
  return new Error('Cannot record: the attempt is over')
}

function once(act: () => void): () => void {
  let isDone = false
  return () => {
    if (isDone) return
    isDone = true
    act()
  }
}
