/**
 * One active run in this process: the shell around the state machine in `turn.ts`. Passes every input to it, one at a
 * time, and carries out the effects it returns. Holds only what cannot be a value: the calls in flight, the timer and the
 * planner's abort signal.
 */
import { ProvisoError } from '../../base/errors/error.ts'
import type { JournalEvent, NewEvent } from '../../domain/event.ts'
import type { Append, AppendResult, HeadUpdate, Lease } from '../../domain/ports/store.ts'
import { fold } from '../../domain/run/fold.ts'
import type { RunState } from '../../domain/run.ts'
import { createCalls } from './active-calls.ts'
import {
  createActorState,
  type Dispatch,
  type Effect,
  type Handler,
  type Input,
  isBusy,
} from './actor-state.ts'
import { decideTurn } from './decide-turn.ts'
import type { Actor, ActorContext, Origin } from './run-actor-context.ts'
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
      const step = decideTurn(state, { run, isReread, decisionContext }, context)
      dispatch({ kind: 'decided', step, now: decisionContext.now })
    },
    'end-slot-turn': ({ more }) => slots.done(runId, { more }),
    'release-slots'({ capabilityIds }) {
      for (const capabilityId of capabilityIds) slots.release(capabilityId)
    },
    'occupy-slot': ({ capabilityId }) => slots.occupy(capabilityId),
    call: calls.start,
    interrupt: ({ calls: over }) => calls.interrupt(over),
    'abandon-calls': calls.abandon,
    'report-late': ({ ended }) => context.onLateResult(runId, ended, ended.result),
    plan({ run, request }) {
      planning = new AbortController()
      context
        .plan(run, planning.signal)
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
    'end-turn'() {
      void Promise.resolve().then(() => dispatch({ kind: 'turn-ended' }))
    },
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
    get busy() {
      return isBusy(state)
    },
    wake,
    notify: (seq) => dispatch({ kind: 'notified', seq }),
    stop: () => dispatch({ kind: 'stop' }),
  }
  return actor
}

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
  const fail = (cause: unknown) => toFailure(cause, clock.now())
  const failed = (cause: unknown) => dispatch(fail(cause))
  return {
    read(runId: string) {
      readRun(context, runId).then((run) => dispatch({ kind: 'read', run }), failed)
    },
    create(run: RunState, events: readonly NewEvent[], head: HeadUpdate) {
      if (origin.kind !== 'new') throw new Error('A claimed run has a lease')
      const onCreated = (lease: Lease): Input => {
        // In the same step in which the start is reported: the engine may be closed next, and then releases the lease.
        dispatch({ kind: 'leased', lease })
        onAppended(run, events)
        return { kind: 'written', result: 'created' }
      }
      origin.create(events, head).then(onCreated).catch(fail).then(dispatch)
    },
    append(run: RunState, append: Append) {
      const onWritten = ({ kind }: AppendResult): Input => {
        if (kind === 'appended') onAppended(run, append.events)
        return { kind: 'written', result: kind }
      }
      store.append(append).then(onWritten).catch(fail).then(dispatch)
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
