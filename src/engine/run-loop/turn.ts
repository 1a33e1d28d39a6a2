/**
 * The state machine of one active run: a pure function from a state and an input to the next state and the effects to
 * carry out. `run-actor.ts` is its shell. Everything that happens to the run is an input; the turn that follows folds it
 * in, decides until only calls are left, appends all events at the expected sequence number (write-ahead log), and only
 * then starts the calls.
 */
import type { RunState } from '../../domain/run.ts'
import { firstTimer, headOf } from '../journal/run-head.ts'
import {
  type ActiveCall,
  type ActorState,
  type Decision,
  type Effect,
  type Input,
  nothingPending,
  type Turn,
  type WriteResult,
} from './actor-state.ts'
import { isRunning, openRequest } from './pending-events.ts'

/** Pauses after failures of the store: the first one, which doubles, and the longest, in milliseconds. */
const pauses = { first: 50, longest: 5_000 }

export function turn(state: ActorState, input: Input): Turn {
  switch (input.kind) {
    case 'wake':
      return schedule(state)
    case 'paced':
      return schedule({ ...state, isPaced: false })
    case 'notified':
      if (state.run !== undefined && input.seq <= state.run.seq) return { state, effects: [] }
      return schedule({ ...state, latestSeq: Math.max(state.latestSeq, input.seq) })
    case 'accepted':
      return schedule(withPending(state, { accepted: [...state.pending.accepted, input.accepted] }))
    case 'ended':
      return pace(withPending(state, { ended: [...state.pending.ended, input.ended] }))
    case 'planned':
      return schedule({ ...withPending(state, { planned: input.planned }), isPlanning: false })
    case 'read':
      if (input.run === undefined || state.isStopped) return lose({ ...state, phase: { kind: 'waiting' } })
      return decide({ ...state, run: input.run }, input.run, true)
    case 'decided':
      return write(state, input)
    case 'leased':
      return { state: { ...state, lease: input.lease }, effects: [] }
    case 'written':
      return takeWriteResult(state, input.result)
    case 'released':
      return state.phase.kind === 'releasing' ? rest(state, state.phase.decision) : { state, effects: [] }
    case 'turn-ended':
      return endTurn(state)
    case 'failed':
      return fail(state, input)
    case 'crashed':
      return stop(state, [{ kind: 'report-crash', cause: input.cause }])
    case 'stop':
      return stop(state, [])
  }
}

function withPending(state: ActorState, more: Partial<ActorState['pending']>): ActorState {
  return { ...state, pending: { ...state.pending, ...more } }
}

/** Starts a turn, or another one after the current. */
function schedule(state: ActorState): Turn {
  if (state.isStopped) return { state, effects: [] }
  if (state.phase.kind !== 'waiting') return { state: { ...state, isDue: true }, effects: [] }
  return begin(state)
}

/** Results of attempts wait for their share of the process, because many may arrive at once; one turn takes them all. */
function pace(state: ActorState): Turn {
  if (state.isStopped || state.isPaced) return { state, effects: [] }
  return { state: { ...state, isPaced: true }, effects: [{ kind: 'pace' }] }
}

function begin(state: ActorState): Turn {
  const { run, latestSeq } = state
  if (run !== undefined && latestSeq <= run.seq) return decide({ ...state, isDue: false }, run, false)
  return { state: { ...state, isDue: false, phase: { kind: 'reading' } }, effects: [{ kind: 'read' }] }
}

/** Takes the pending results into the turn. */
function decide(state: ActorState, run: RunState, isReread: boolean): Turn {
  const { pending, calls } = state
  return {
    state: {
      ...state,
      phase: { kind: 'deciding', expectedSeq: run.seq },
      pending: nothingPending,
      taken: pending,
      calls: updateCalls(calls, pending),
    },
    effects: [{ kind: 'decide', run, isReread }],
  }
}

/** Removes the calls that have ended, and marks the accepted ones. */
function updateCalls(calls: ActorState['calls'], { accepted, ended }: ActorState['pending']) {
  if (accepted.length === 0 && ended.length === 0) return calls
  const next = new Map(calls)
  for (const { nodeId, attempt } of accepted) {
    const call = next.get(nodeId)
    if (call?.attempt === attempt) next.set(nodeId, { ...call, isAccepted: true })
  }
  for (const { nodeId, attempt } of ended) if (next.get(nodeId)?.attempt === attempt) next.delete(nodeId)
  return next
}

function write(state: ActorState, { step, now }: Extract<Input, { kind: 'decided' }>): Turn {
  const { runId, run, phase, lease, unsaved } = state
  if (run === undefined || phase.kind !== 'deciding') return { state, effects: [] }
  const { expectedSeq } = phase
  const isIdle =
    run.finished !== undefined ||
    (run.running.size === 0 && !step.plan && !state.isPlanning && !step.atCapacity)
  const decision: Decision = { step, isIdle }
  // The turn for slots ends with the decision: other runs do not wait for this write.
  const endSlotTurn: Effect = { kind: 'end-slot-turn', more: step.atCapacity }
  const events = unsaved.length === 0 ? step.events : [...unsaved, ...step.events]
  if (events.length === 0) return proceed(state, { run, decision, isReleased: false, before: [endSlotTurn] })
  const head = headOf(run, now)
  const written: Effect = lease
    ? {
        kind: 'append',
        run,
        append: { runId, expectedSeq, events, head, lease, ...(isIdle && { release: true }) },
      }
    : { kind: 'create', run, events, head }
  return { state: { ...state, phase: { kind: 'writing', decision } }, effects: [endSlotTurn, written] }
}

function takeWriteResult(state: ActorState, result: WriteResult): Turn {
  const { run, phase, isStopped } = state
  if (run === undefined || phase.kind !== 'writing') return { state, effects: [] }
  const { decision } = phase
  if (isStopped || result === 'fenced' || result === 'missing') {
    const undone = undo(state, decision)
    const lost = lose(undone.state)
    return { state: lost.state, effects: [...undone.effects, ...lost.effects] }
  }
  if (result === 'conflict') {
    const { state: undone, effects } = undo(state, decision)
    return {
      state: { ...undone, isDue: true, phase: { kind: 'ending' } },
      effects: [...effects, { kind: 'end-turn' }],
    }
  }
  return proceed(state, { run, decision, isReleased: result === 'appended', before: [] })
}

/** Discards what was decided, and keeps the results for the next turn. */
function undo(state: ActorState, { step }: Decision): Turn {
  return {
    state: restorePending(state),
    effects: [{ kind: 'release-slots', capabilityIds: step.starts.map(({ capabilityId }) => capabilityId) }],
  }
}

/** Puts the results of the turn back before the ones that arrived since, and has the run read again. */
function restorePending(state: ActorState): ActorState {
  const { taken, pending } = state
  return {
    ...state,
    phase: { kind: 'waiting' },
    run: undefined,
    taken: nothingPending,
    pending: {
      accepted: [...taken.accepted, ...pending.accepted],
      ended: [...taken.ended, ...pending.ended],
      planned: pending.planned ?? taken.planned,
    },
  }
}

interface Written {
  readonly run: RunState
  readonly decision: Decision
  /** The lease was released with the append. */
  readonly isReleased: boolean
  readonly before: readonly Effect[]
}

/** Carries out what is in the journal by now. */
function proceed(state: ActorState, { run, decision, isReleased, before }: Written): Turn {
  const { step, isIdle } = decision
  const effects = [...before]
  const { calls, unsent } = startCalls(state, run, { step, effects })
  const isPlanDue = step.plan && !state.isPlanning && state.pending.planned === undefined
  if (isPlanDue) effects.push({ kind: 'plan', run, request: openRequest(run) })
  const next: ActorState = {
    ...state,
    unsaved: [],
    opening: [],
    taken: nothingPending,
    pending: { ...state.pending, ended: state.pending.ended.filter((end) => isRunning(run, end)) },
    calls,
    unsent,
    isPlanning: state.isPlanning || isPlanDue,
  }
  if (!isIdle) {
    // While calls are in flight, timers are due here; once the run is idle, the store is polled for due runs.
    effects.push({ kind: 'set-timer', at: firstTimer(run) }, { kind: 'end-turn' })
    return { state: { ...next, phase: { kind: 'ending' } }, effects }
  }
  if (isReleased || next.lease === undefined) {
    const rested = rest(next, decision)
    return { state: rested.state, effects: [...effects, ...rested.effects] }
  }
  return {
    state: { ...next, phase: { kind: 'releasing', decision } },
    effects: [...effects, { kind: 'release-lease', lease: next.lease }],
  }
}

/** Interrupts the calls whose attempt has ended in the journal, starts the new ones, and awaits the ones that another process made. */
function startCalls(
  { calls: before, unsent: unsentBefore, pending }: ActorState,
  run: RunState,
  { step, effects }: { readonly step: Decision['step']; readonly effects: Effect[] },
): Pick<ActorState, 'calls' | 'unsent'> {
  let calls = before
  const editCalls = () => {
    if (calls === before) calls = new Map(before)
    return calls as Map<string, ActiveCall>
  }
  const over = [...before.values()].filter((call) => !isRunning(run, call))
  for (const { nodeId } of over) editCalls().delete(nodeId)
  if (over.length > 0) effects.push({ kind: 'interrupt', calls: over })
  // These arrived while the interrupt was being written.
  for (const ended of pending.ended) if (!isRunning(run, ended)) effects.push({ kind: 'report-late', ended })
  let unsent = unsentBefore
  for (const start of step.starts) {
    const { nodeId, capabilityId } = start
    // The step that started it may also have interrupted it.
    if (!run.running.has(nodeId)) {
      effects.push({ kind: 'release-slots', capabilityIds: [capabilityId] })
      continue
    }
    const call = toActiveCall(run, nodeId)
    editCalls().set(nodeId, call)
    if (unsent.has(nodeId)) unsent = new Map([...unsent].filter(([id]) => id !== nodeId))
    effects.push({ kind: 'call', call, start, run })
  }
  for (const nodeId of run.running) {
    const { attempt } = run.nodes.get(nodeId) ?? {}
    if (!attempt?.accepted || calls.has(nodeId) || pending.ended.some((end) => end.nodeId === nodeId))
      continue
    const { capabilityId, inputs } = attempt
    const call = toActiveCall(run, nodeId)
    editCalls().set(nodeId, call)
    const start = { nodeId, capabilityId, inputs, events: [] }
    effects.push({ kind: 'occupy-slot', capabilityId }, { kind: 'call', call, start, run })
  }
  return { calls, unsent }
}

function toActiveCall({ nodes, planVersion }: RunState, nodeId: string): ActiveCall {
  const node = nodes.get(nodeId)
  const isAccepted = node?.attempt?.accepted !== undefined
  return { nodeId, attempt: node?.attempts ?? 0, planVersion, isAccepted }
}

/** Ends the actor: the run is over, waits, or needs another process, and its lease is released. */
function rest(state: ActorState, { step }: Decision): Turn {
  const { run, isStopped, isDue, latestSeq } = state
  const phase = { kind: 'waiting' } as const
  if (isStopped || run === undefined) return { state: { ...state, phase }, effects: [] }
  const idle = { more: isDue || latestSeq > run.seq, missing: step.missing }
  return {
    state: { ...state, phase, isStopped: true },
    effects: [{ kind: 'stop-waiting' }, { kind: 'report-idle', run, idle }],
  }
}

function endTurn(state: ActorState): Turn {
  if (state.phase.kind !== 'ending') return { state, effects: [] }
  const next: ActorState = { ...state, phase: { kind: 'waiting' }, storeFailures: 0 }
  // In the same step as the check: an input in between would be lost.
  return next.isDue && !next.isStopped ? begin(next) : { state: next, effects: [] }
}

/** While the store is unavailable, calls continue, and their results are kept until it is back or another process has the run. */
function fail(state: ActorState, { cause, isRetryable, now }: Extract<Input, { kind: 'failed' }>): Turn {
  const { state: next, effects } =
    state.phase.kind === 'writing'
      ? undoUnanswered(state, state.phase.decision)
      : { state: restorePending(state), effects: [] }
  if (next.isStopped) return { state: next, effects }
  if (next.lease === undefined || !isRetryable) {
    const stopped = stop(
      next,
      next.lease ? [{ kind: 'report-crash', cause }] : [{ kind: 'report-lost' }, { kind: 'refuse', cause }],
    )
    return { state: stopped.state, effects: [...effects, ...stopped.effects] }
  }
  const pause = Math.min(pauses.first * 2 ** next.storeFailures, pauses.longest)
  return {
    state: { ...next, isDue: false, storeFailures: next.storeFailures + 1 },
    // First out of the line for slots: a released slot must not end the pause.
    effects: [{ kind: 'end-slot-turn', more: false }, ...effects, { kind: 'set-timer', at: now + pause }],
  }
}

/** The append may have been written: its attempts may be in the journal, and were never sent. */
function undoUnanswered(state: ActorState, decision: Decision): Turn {
  const { state: undone, effects } = undo(state, decision)
  const unsent = new Map(state.unsent)
  for (const { nodeId } of decision.step.starts)
    unsent.set(nodeId, state.run?.nodes.get(nodeId)?.attempts ?? 0)
  return { state: { ...undone, unsent }, effects }
}

function lose(state: ActorState): Turn {
  return stop(state, [{ kind: 'report-lost' }])
}

/** Releases the run: calls are abandoned, and nothing more is written. What is in the journal is whole, and its next owner continues from there. */
function stop(state: ActorState, then: readonly Effect[]): Turn {
  if (state.isStopped) return { state, effects: then }
  return {
    state: { ...state, isStopped: true },
    effects: [
      { kind: 'stop-waiting' },
      { kind: 'abandon-calls' },
      { kind: 'end-slot-turn', more: false },
      ...then,
    ],
  }
}
