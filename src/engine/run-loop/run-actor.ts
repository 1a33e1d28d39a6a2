/**
 * One run in this process. Everything that happens to it comes in here, one thing at a time: results of attempts and of
 * planning, and the news that somebody else appended. Each turn folds in what happened, decides to the end, appends all of
 * it at once at the expected sequence, and only then lets the new attempts leave.
 */
import { ProvisoError } from '../../base/errors/error.ts'
import { createStop, type Stop } from '../../base/stop.ts'
import type { AttemptRef } from '../../domain/attempt/call-key.ts'
import type { JournalEvent, NewEvent } from '../../domain/event.ts'
import type { AttemptResult, Usage } from '../../domain/output.ts'
import type { Append, AppendResult } from '../../domain/ports/store.ts'
import { fold } from '../../domain/run/fold.ts'
import type { RunState } from '../../domain/run.ts'
import { orphanFacts, type Whereabouts } from '../decide/decide.ts'
import { type Step, step } from '../decide/decide-until-idle.ts'
import type { Start } from '../decide/start-nodes.ts'
import type { CallInFlight, Moment } from '../events.ts'
import { firstTimer, headOf } from '../journal/run-head.ts'
import {
  type Accepted,
  type Ended,
  happenings,
  isRunning,
  openRequest,
  type Planned,
} from './pending-events.ts'
import type { Actor, ActorContext, Origin, Work } from './run-actor-context.ts'

interface InFlight extends AttemptRef {
  readonly stop: Stop
  /** Gives the slot back, once. */
  readonly release: () => void
  /** What the call has reported as spent. */
  spent: Usage
  /** Its answer comes later, to whichever process has the run by then. */
  accepted: boolean
  /** The run has moved on without it: what it brings is a late result. */
  interrupted?: true
}

const pageSize = 5000
/** How long a store that is not there is left alone: the first pause, which doubles, and the longest. */
const pauses = { first: 50, longest: 5_000 }

export function createActor(runId: string, context: ActorContext, origin: Origin): Actor {
  const { store, clock, slots } = context
  const inFlight = new Map<string, InFlight>()
  let state = origin.kind === 'new' ? origin.state : undefined
  let lease = origin.kind === 'claimed' ? origin.lease : undefined
  let unsaved: readonly NewEvent[] = origin.kind === 'new' ? origin.events : []
  let opening: readonly NewEvent[] = origin.kind === 'new' ? origin.opening : []
  let ended: Ended[] = []
  let accepted: Accepted[] = []
  let planned: Planned | undefined
  let planning: AbortController | undefined
  let latestHeard = 0
  let busy = false
  let again = false
  let stopped = false
  let awaitsTurn = false
  let takeBackAlarm = () => {}
  /** Turns in a row that the store did not answer to. */
  let unanswered = 0
  /** Attempts that may be in the journal, for nobody heard of the append, and certainly never left. */
  const neverLeft = new Map<string, number>()

  const poke = () => {
    again = true
    if (busy || stopped) return
    busy = true
    turns().catch((cause: unknown) => {
      if (lease !== undefined || origin.kind === 'claimed') return crash(cause)
      stop()
      context.onLost(actor)
      origin.refuse(cause)
    })
  }

  /** For what many runs may do at the same moment. What else happens to this run meanwhile is part of the same turn. */
  const pokeInTurn = () => {
    if (context.turn === undefined) return poke()
    if (awaitsTurn) return
    awaitsTurn = true
    void context.turn().then(() => {
      awaitsTurn = false
      poke()
    })
  }

  const turns = async () => {
    while (again && !stopped) {
      again = false
      try {
        await turn()
        unanswered = 0
      } catch (cause) {
        if (stopped) break
        if (lease === undefined || !mayPass(cause)) throw cause
        tryLater()
      }
    }
    // In the same breath as the last look at `again`: a poke in between would be lost.
    busy = false
  }

  /** The store is not there: attempts go on, and what they bring is kept until it is back or somebody else has the run. */
  const tryLater = () => {
    again = false
    state = undefined
    slots.done(runId, { more: false })
    const pause = Math.min(pauses.first * 2 ** unanswered++, pauses.longest)
    takeBackAlarm()
    takeBackAlarm = clock.timer(clock.now() + pause, poke)
  }

  /** One turn; a conflict throws away what was decided and leaves what happened for the next. */
  const turn = async () => {
    const reloaded = state === undefined || latestHeard > state.seq
    const current = reloaded ? await load() : state
    if (current === undefined || stopped) return lost()
    state = current
    const from = { accepted, ended, planned, seq: current.seq }
    accepted = []
    ended = []
    planned = undefined
    const moment: Moment = { call: callOf, ...context.moment(current.tenant) }
    const happened = [
      ...opening,
      ...happenings(current, moment.now, from),
      ...(reloaded ? orphans(current, moment, from.ended) : []),
    ]
    const done = decideAll(current, moment, happened)
    // Its turn is over with the decision: nobody else waits for its disk.
    slots.done(runId, { more: done.crowded })
    const events = [...unsaved, ...done.events]
    const idle = isIdle(current, done)
    const undo = () => {
      for (const start of done.starts) slots.give(start.capabilityId)
      accepted = [...from.accepted, ...accepted]
      ended = [...from.ended, ...ended]
      planned ??= from.planned
      state = undefined
    }
    const writing = { seq: from.seq, idle, now: moment.now }
    const written = events.length === 0 ? 'nothing' : await write(events, writing).catch(fail)
    function fail(cause: unknown): never {
      undo()
      for (const { nodeId } of done.starts) neverLeft.set(nodeId, current?.nodes.get(nodeId)?.attempts ?? 0)
      throw cause
    }
    if (stopped || written === 'fenced' || written === 'missing') {
      undo()
      return lost()
    }
    if (written === 'conflict') {
      undo()
      again = true
      return
    }
    unsaved = []
    opening = []
    interruptEnded(current)
    for (const start of done.starts) {
      // It may have been interrupted in the step that started it.
      if (current.running.has(start.nodeId)) launch(current, start)
      else slots.give(start.capabilityId)
    }
    resumeAccepted(current)
    if (done.plan && !planning && !planned) launchPlanning(current)
    if (idle) await goIdle(current, { released: written === 'appended', missing: done.missing })
    else setAlarm(current)
  }

  /** Steps until work is left; a draft that is at hand is proved in between, so that it costs no turn of its own. */
  const decideAll = (current: RunState, moment: Moment, happened: readonly NewEvent[]): Step => {
    const room = (capabilityId: string) => slots.take(runId, capabilityId)
    let done = step(current, moment, { happened, room })
    while (done.plan) {
      const result = context.planAtHand(current)
      if (!result) break
      const next = step(current, moment, { happened: result(current, moment.now), room })
      done = {
        ...next,
        events: [...done.events, ...next.events],
        starts: [...done.starts, ...next.starts],
      }
    }
    return done
  }

  const write = async (
    events: readonly NewEvent[],
    at: { readonly seq: number; readonly idle: boolean; readonly now: number },
  ): Promise<AppendResult['kind'] | 'created'> => {
    const current = state as RunState
    const head = headOf(current, at.now)
    if (lease === undefined && origin.kind === 'new') {
      lease = await origin.create(events, head)
      context.onAppended(current, events)
      return 'created'
    }
    const append: Append = {
      runId,
      expectedSeq: at.seq,
      events,
      head,
      ...(lease && { lease }),
      ...(at.idle && { release: true }),
    }
    const { kind } = await store.append(append)
    if (kind === 'appended') context.onAppended(current, events)
    return kind
  }

  const load = async (): Promise<RunState | undefined> => {
    const events: JournalEvent[] = []
    for (;;) {
      const page = await store.read(runId, events.at(-1)?.seq ?? 0, pageSize)
      events.push(...page)
      if (page.length < pageSize) return fold(events)
    }
  }

  const orphans = (current: RunState, moment: Moment, just: readonly Ended[]) =>
    orphanFacts(current, moment, (nodeId, attempt): Whereabouts => {
      if (inFlight.get(nodeId)?.attempt === attempt) return 'here'
      if (just.some((end) => end.nodeId === nodeId && end.attempt === attempt)) return 'here'
      return neverLeft.get(nodeId) === attempt ? 'never-left' : 'unknown'
    })

  const isIdle = (current: RunState, done: Step) => {
    if (current.finished) return true
    return current.running.size === 0 && !done.plan && planning === undefined && !done.crowded
  }

  /** Running attempts that are not in flight here were started in this very turn, and have not left. */
  const callOf = (nodeId: string, attempt: number): CallInFlight => {
    const flight = inFlight.get(nodeId)
    if (flight?.attempt === attempt) return { spent: flight.spent }
    // Another process may have made a call that was accepted.
    return state?.nodes.get(nodeId)?.attempt?.accepted ? { spent: { calls: 1 } } : 'not-sent'
  }

  /** Aborts calls whose attempt has ended in the journal; a capability that ignores its signal keeps nothing waiting. */
  const interruptEnded = (current: RunState) => {
    for (const flight of inFlight.values()) {
      if (isRunning(current, flight)) continue
      flight.interrupted = true
      inFlight.delete(flight.nodeId)
      flight.release()
      flight.stop.abort(new Error('The run moved on'))
    }
    // These came while the interrupt was being written.
    for (const late of ended) if (!isRunning(current, late)) context.onLateResult(runId, late, late.result)
    ended = ended.filter((end) => isRunning(current, end))
  }

  /** Waits for answers to calls that another process made, and that were accepted. */
  const resumeAccepted = (current: RunState) => {
    for (const nodeId of current.running) {
      const { attempt } = current.nodes.get(nodeId) ?? {}
      if (!attempt?.accepted || inFlight.has(nodeId) || ended.some((end) => end.nodeId === nodeId)) continue
      slots.occupy(attempt.capabilityId)
      launch(current, { nodeId, capabilityId: attempt.capabilityId, inputs: attempt.inputs, events: [] })
    }
  }

  const launch = (current: RunState, start: Start) => {
    const attempt = current.nodes.get(start.nodeId)?.attempts ?? 0
    const { nodeId } = start
    const stop = createStop()
    const logs: Ended['logs'][number][] = []
    const flight: InFlight = {
      nodeId,
      attempt,
      planVersion: current.planVersion,
      stop,
      release: once(() => slots.give(start.capabilityId)),
      spent: { calls: 1 },
      accepted: current.nodes.get(nodeId)?.attempt?.accepted !== undefined,
    }
    inFlight.set(nodeId, flight)
    neverLeft.delete(nodeId)
    const work: Work = {
      stop,
      log: (event, payload) => logs.push({ event, ...(payload && { payload }) }),
      onAccepted: (deadlineAt) => {
        if (flight.interrupted) return
        const agent = start.capabilityId
        flight.accepted = true
        accepted.push({ nodeId, attempt, planVersion: flight.planVersion, agent, deadlineAt })
        poke()
      },
      onUsage: (spent) => {
        flight.spent = spent
      },
      onLateResult: (result) => {
        if (flight.interrupted) context.onLateResult(runId, flight, result)
      },
    }
    const bring = (result: AttemptResult) => {
      flight.release()
      if (flight.interrupted) return
      inFlight.delete(nodeId)
      ended.push({ nodeId, attempt, planVersion: flight.planVersion, result, logs })
      pokeInTurn()
    }
    const fail = (cause: unknown) => {
      flight.release()
      crash(cause)
    }
    context.perform(current, start, work).then(bring).catch(fail)
  }

  /** Only after the request for a plan is in the journal, and once at a time. */
  const launchPlanning = (current: RunState) => {
    const abort = new AbortController()
    planning = abort
    const request = openRequest(current)
    context
      .plan(current, abort.signal)
      .then((made) => {
        planned = { request, result: made }
        planning = undefined
        poke()
      })
      .catch(crash)
  }

  /** While attempts are in flight, timers of the run are due here; once it is idle, the store is asked for due runs. */
  const setAlarm = (current: RunState) => {
    takeBackAlarm()
    const due = firstTimer(current)
    takeBackAlarm = due === undefined ? () => {} : clock.timer(due, poke)
  }

  const goIdle = async (
    current: RunState,
    { released, missing }: { readonly released: boolean; readonly missing: readonly string[] },
  ) => {
    if (!released && lease) await store.release(runId, lease)
    if (stopped) return
    stopped = true
    planning?.abort()
    takeBackAlarm()
    context.onIdle(actor, current, { more: again || latestHeard > current.seq, missing })
  }

  const lost = () => {
    stop()
    context.onLost(actor)
  }

  /** Nothing more is written here; what has been is whole, and the next holder goes on from there. */
  const crash = (cause: unknown) => {
    stop()
    context.onCrash(actor, cause)
  }

  const stop = () => {
    if (stopped) return
    stopped = true
    takeBackAlarm()
    planning?.abort()
    for (const flight of inFlight.values()) flight.stop.abort(new Error('The run has left this process'))
    slots.done(runId, { more: false })
  }

  /** Calls that end in this process; accepted ones can be waited for by another. */
  const hasCalls = () => [...inFlight.values()].some((flight) => !flight.accepted) || accepted.length > 0

  const actor: Actor = {
    runId,
    get lease() {
      return lease
    },
    get busy() {
      return busy || hasCalls() || planning !== undefined || ended.length > 0 || planned !== undefined
    },
    poke,
    heard(seq) {
      if (state !== undefined && seq <= state.seq) return
      latestHeard = Math.max(latestHeard, seq)
      poke()
    },
    stop,
  }
  return actor
}

function once(act: () => void): () => void {
  let done = false
  return () => {
    if (done) return
    done = true
    act()
  }
}

/** What may be over after a while, such as a database that starts again. */
function mayPass(cause: unknown): boolean {
  return cause instanceof ProvisoError && cause.fate === 'retry'
}
