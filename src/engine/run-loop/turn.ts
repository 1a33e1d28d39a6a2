/**
 * The state machine of one active run: a pure function from a state and an input to the next state and the effects to
 * carry out. `run-actor.ts` is its shell. Everything that happens to the run is an input; the turn that follows folds it
 * in, decides until only calls are left, appends all events at the expected sequence number (write-ahead log), and only
 * then starts the calls.
 */
import { backoffMs, type RetryPolicy } from '../../base/time/retry.ts'
import type { NewEvent } from '../../domain/event.ts'
import type { RunState } from '../../domain/run.ts'
import type { Start } from '../decide/start-nodes.ts'
import { buildRunHead, firstTimer } from '../journal/run-head.ts'
import {
  type ActiveCall,
  type ActorState,
  type Decision,
  type Effect,
  type Input,
  isRunning,
  nothingPending,
  openRequest,
  type Phase,
  type Turn,
  type WriteResult,
} from './actor-state.ts'

/** Failed reads and writes of the store are repeated until the lease is lost; only this process waits, so without jitter. */
const storeRetryPolicy: RetryPolicy = {
  max: Number.POSITIVE_INFINITY,
  baseMs: 50,
  factor: 2,
  capMs: 5_000,
  jitter: 'none',
}

export function turn(state: ActorState, input: Input): Turn {
  // One copy per input, changed only here: the given state stays as it is, and copies cost more than most inputs.
  const next = copyState(state)
  const effects: Effect[] = []
  take(next, input, effects)
  return { state: next, effects }
}

type NextState = { -readonly [K in keyof ActorState]: ActorState[K] }

/** Member by member: this runs for every input, and a spread that has seen several shapes costs several times as much. */
function copyState(state: ActorState): NextState {
  return {
    runId: state.runId,
    phase: state.phase,
    isStopped: state.isStopped,
    isDue: state.isDue,
    isPaced: state.isPaced,
    run: state.run,
    lease: state.lease,
    unsaved: state.unsaved,
    opening: state.opening,
    pending: state.pending,
    taken: state.taken,
    calls: state.calls,
    unsent: state.unsent,
    isPlanning: state.isPlanning,
    latestSeq: state.latestSeq,
    storeFailures: state.storeFailures,
  }
}

function take(next: NextState, input: Input, effects: Effect[]): void {
  switch (input.kind) {
    case 'wake':
      schedule(next, effects)
      return
    case 'paced':
      next.isPaced = false
      schedule(next, effects)
      return
    case 'notified':
      if (next.run !== undefined && input.seq <= next.run.seq) return
      next.latestSeq = Math.max(next.latestSeq, input.seq)
      schedule(next, effects)
      return
    case 'accepted':
      next.pending = { ...next.pending, accepted: [...next.pending.accepted, input.accepted] }
      schedule(next, effects)
      return
    case 'recorded':
      next.pending = { ...next.pending, facts: [...next.pending.facts, input.recorded] }
      schedule(next, effects)
      return
    case 'ended':
      next.pending = { ...next.pending, ended: [...next.pending.ended, input.ended] }
      pace(next, effects)
      return
    case 'planned':
      next.pending = { ...next.pending, planned: input.planned }
      next.isPlanning = false
      schedule(next, effects)
      return
    case 'read':
      next.run = input.run
      if (input.run !== undefined && !next.isStopped) {
        decide(next, input.run, { isReread: true, effects })
        return
      }
      next.phase = waiting
      lose(next, effects)
      return
    case 'decided':
      write(next, input, effects)
      return
    case 'leased':
      next.lease = input.lease
      return
    case 'written':
      takeWriteResult(next, input.result, effects)
      return
    case 'released':
      if (next.phase.kind === 'releasing') rest(next, next.phase.decision, effects)
      return
    case 'turn-ended':
      endTurn(next, effects)
      return
    case 'failed':
      fail(next, input, effects)
      return
    case 'crashed':
      stop(next, effects)
      effects.push({ kind: 'report-crash', cause: input.cause })
      return
    case 'stop':
      stop(next, effects)
      return
  }
}

const waiting: Phase = { kind: 'waiting' }

/** Starts a turn, or another one after the current. */
function schedule(next: NextState, effects: Effect[]): void {
  if (next.isStopped) return
  if (next.phase.kind === 'waiting') begin(next, effects)
  else next.isDue = true
}

/** Results of attempts wait for their share of the process, because many may arrive at once; one turn takes them all. */
function pace(next: NextState, effects: Effect[]): void {
  if (next.isStopped || next.isPaced) return
  next.isPaced = true
  effects.push({ kind: 'pace' })
}

function begin(next: NextState, effects: Effect[]): void {
  const { run, latestSeq } = next
  next.isDue = false
  if (run !== undefined && latestSeq <= run.seq) {
    decide(next, run, { isReread: false, effects })
    return
  }
  next.phase = { kind: 'reading' }
  effects.push({ kind: 'read' })
}

/** Takes the pending results into the turn. */
function decide(
  next: NextState,
  run: RunState,
  { isReread, effects }: { readonly isReread: boolean; readonly effects: Effect[] },
): void {
  const { pending, calls } = next
  next.phase = { kind: 'deciding', expectedSeq: run.seq }
  next.pending = nothingPending
  next.taken = pending
  next.calls = updateCalls(calls, pending)
  effects.push({ kind: 'decide', run, isReread })
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

function write(next: NextState, decided: Extract<Input, { kind: 'decided' }>, effects: Effect[]): void {
  const { step, now } = decided
  const { runId, run, phase, lease, unsaved } = next
  if (run === undefined || phase.kind !== 'deciding') return
  const { expectedSeq } = phase
  const isIdle =
    run.finished !== undefined ||
    (run.running.size === 0 && !step.plan && !next.isPlanning && !step.atCapacity)
  const decision: Decision = { step, isIdle }
  // The turn for slots ends with the decision: other runs do not wait for this write.
  effects.push({ kind: 'end-slot-turn', more: step.atCapacity })
  const events = unsaved.length === 0 ? step.events : [...unsaved, ...step.events]
  if (events.length === 0) {
    proceed(next, { run, decision, isReleased: false }, effects)
    return
  }
  const head = buildRunHead(run, now)
  const ahead = !isIdle && canBeAhead(next, decided) && ({ canBeAhead: true } as const)
  const written: Effect = lease
    ? {
        kind: 'append',
        run,
        append: { runId, expectedSeq, events, head, lease, ...(isIdle && { release: true }), ...ahead },
      }
    : { kind: 'create', run, events, head }
  next.phase = { kind: 'writing', decision }
  stopCalls(next, { run, events }, effects)
  effects.push(written)
}

/** Whether nothing leaves the process after the append: no planner is called, and no attempt under way waits for its facts. */
function canBeAhead(next: NextState, { step, canBeAhead: allowed }: Extract<Input, { kind: 'decided' }>) {
  const { accepted, facts, planned } = next.taken
  const isOnlyEnds = accepted.length === 0 && facts.length === 0 && planned === undefined
  return allowed === true && isOnlyEnds && !step.plan && !next.isPlanning && next.unsaved.length === 0
}

/**
 * Aborts the calls whose attempts end in the append, so that they spend nothing more than it charges. All others are aborted
 * once it is written: without a limit nothing depends on it, and an accepted call spends nothing.
 */
function stopCalls(
  next: NextState,
  { run, events }: { readonly run: RunState; readonly events: readonly NewEvent[] },
  effects: Effect[],
): void {
  const charged = new Set<string | undefined>()
  for (const event of events)
    if (event.type === 'budget_settled' && event.payload.calls > 0) charged.add(event.nodeId)
  if (charged.size === 0) return
  const over: ActiveCall[] = []
  for (const call of next.calls.values())
    if (charged.has(call.nodeId) && !call.isAccepted && !call.isStopped && !isRunning(run, call))
      over.push(call)
  if (over.length === 0) return
  const stopped = over.map((call): [string, ActiveCall] => [call.nodeId, { ...call, isStopped: true }])
  next.calls = new Map([...next.calls, ...stopped])
  effects.push({ kind: 'stop-calls', calls: over })
}

function takeWriteResult(next: NextState, result: WriteResult, effects: Effect[]): void {
  const { run, phase, isStopped } = next
  if (run === undefined || phase.kind !== 'writing') return
  const { decision } = phase
  if (isStopped || result === 'fenced' || result === 'missing') {
    undo(next, decision, effects)
    // The lease of a run that was stored after its actor was stopped would only keep other processes waiting.
    if (result === 'created' && next.lease) effects.push({ kind: 'release-lease', lease: next.lease })
    lose(next, effects)
    return
  }
  if (result === 'conflict') {
    undo(next, decision, effects)
    next.isDue = true
    next.phase = { kind: 'ending' }
    effects.push({ kind: 'end-turn' })
    return
  }
  proceed(next, { run, decision, isReleased: result === 'appended' }, effects)
}

/** Discards what was decided, and keeps the results for the next turn. */
function undo(next: NextState, { step }: Decision, effects: Effect[]): void {
  restorePending(next)
  effects.push({
    kind: 'release-slots',
    capabilityIds: step.starts.map(({ capabilityId }) => capabilityId),
  })
}

/** Puts the results of the turn back before the ones that arrived since, and has the run read again. */
function restorePending(next: NextState): void {
  const { taken, pending } = next
  next.phase = waiting
  next.run = undefined
  next.taken = nothingPending
  next.pending = {
    accepted: [...taken.accepted, ...pending.accepted],
    facts: [...taken.facts, ...pending.facts],
    ended: [...taken.ended, ...pending.ended],
    planned: pending.planned ?? taken.planned,
  }
}

interface Written {
  readonly run: RunState
  readonly decision: Decision
  /** The lease was released with the append. */
  readonly isReleased: boolean
}

/** Carries out what is in the journal by now. */
function proceed(next: NextState, { run, decision, isReleased }: Written, effects: Effect[]): void {
  const { step, isIdle } = decision
  next.unsaved = nothing
  next.opening = nothing
  for (const recorded of next.taken.facts)
    effects.push({ kind: 'confirm', recorded, isWritten: isRunning(run, recorded) })
  next.taken = nothingPending
  interruptCalls(next, run, effects)
  startCalls(next, run, { step, effects })
  if (step.plan && !next.isPlanning && next.pending.planned === undefined) {
    effects.push({ kind: 'plan', run, request: openRequest(run), considered: step.considered })
    next.isPlanning = true
  }
  if (!isIdle) {
    // While calls are in flight, timers are due here; once the run is idle, the store is polled for due runs.
    effects.push({ kind: 'set-timer', at: firstTimer(run) }, { kind: 'end-turn' })
    next.phase = { kind: 'ending' }
    return
  }
  if (isReleased || next.lease === undefined) {
    rest(next, decision, effects)
    return
  }
  next.phase = { kind: 'releasing', decision }
  effects.push({ kind: 'release-lease', lease: next.lease })
}

const nothing: readonly never[] = []

/** Interrupts the calls whose attempt has ended in the journal. */
function interruptCalls(next: NextState, run: RunState, effects: Effect[]): void {
  const { calls, pending } = next
  const over = [...calls.values()].filter((call) => !isRunning(run, call))
  if (over.length > 0) {
    next.calls = new Map([...calls].filter(([, call]) => !over.includes(call)))
    effects.push({ kind: 'interrupt', calls: over })
  }
  const stopped = [...calls.values()].filter((call) => call.isStopped && !over.includes(call))
  if (stopped.length > 0) effects.push({ kind: 'end-stopped-calls', calls: stopped })
  // These arrived while the interrupt was being written.
  const late = pending.ended.filter((end) => !isRunning(run, end))
  if (late.length === 0) return
  for (const ended of late) effects.push({ kind: 'report-late', ended })
  next.pending = { ...pending, ended: pending.ended.filter((end) => !late.includes(end)) }
}

/** Starts the new calls, and awaits the ones that another process made. */
function startCalls(
  next: NextState,
  run: RunState,
  { step, effects }: { readonly step: Decision['step']; readonly effects: Effect[] },
): void {
  const { calls: before, pending } = next
  let added: Map<string, ActiveCall> | undefined
  const start = (given: Start) => {
    const call = toActiveCall(run, given.nodeId)
    added ??= new Map(before)
    added.set(given.nodeId, call)
    effects.push({ kind: 'call', call, start: given, run })
  }
  for (const each of step.starts) {
    const { nodeId, capabilityId } = each
    // The step that started it may also have interrupted it.
    if (run.running.has(nodeId)) start(each)
    else effects.push({ kind: 'release-slots', capabilityIds: [capabilityId] })
    if (next.unsent.has(nodeId)) next.unsent = new Map([...next.unsent].filter(([id]) => id !== nodeId))
  }
  for (const nodeId of run.running) {
    const { attempt } = run.nodes.get(nodeId) ?? {}
    if (!attempt?.accepted || (added ?? before).has(nodeId)) continue
    if (pending.ended.some((end) => end.nodeId === nodeId)) continue
    const { capabilityId, inputs } = attempt
    effects.push({ kind: 'occupy-slot', capabilityId })
    start({ nodeId, capabilityId, inputs, events: [] })
  }
  if (added) next.calls = added
}

function toActiveCall({ nodes, planVersion }: RunState, nodeId: string): ActiveCall {
  const node = nodes.get(nodeId)
  const isAccepted = node?.attempt?.accepted !== undefined
  return { nodeId, attempt: node?.attempts ?? 0, planVersion, isAccepted }
}

/** Ends the actor: the run is over, waits, or needs another process, and its lease is released. */
function rest(next: NextState, { step }: Decision, effects: Effect[]): void {
  const { run, isStopped, isDue, latestSeq } = next
  next.phase = waiting
  if (isStopped || run === undefined) return
  next.isStopped = true
  const idle = { more: isDue || latestSeq > run.seq, missing: step.missing }
  effects.push({ kind: 'stop-waiting' }, { kind: 'report-idle', run, idle })
}

function endTurn(next: NextState, effects: Effect[]): void {
  if (next.phase.kind !== 'ending') return
  next.phase = waiting
  next.storeFailures = 0
  // In the same step as the check: an input in between would be lost.
  if (next.isDue && !next.isStopped) begin(next, effects)
}

/** While the store is unavailable, calls continue, and their results are kept until it is back or another process has the run. */
function fail(
  next: NextState,
  { cause, isRetryable, now }: Extract<Input, { kind: 'failed' }>,
  effects: Effect[],
): void {
  // First out of the line for slots: a released slot must not end the pause.
  const isPause = !next.isStopped && next.lease !== undefined && isRetryable
  if (isPause) effects.push({ kind: 'end-slot-turn', more: false })
  if (next.phase.kind === 'writing') undoUnanswered(next, next.phase.decision, effects)
  else restorePending(next)
  if (next.isStopped) {
    // The start of a new run awaits the answer of the store, also if its actor was stopped meanwhile.
    if (next.lease === undefined) effects.push({ kind: 'refuse', cause })
    return
  }
  if (isPause) {
    const pause = backoffMs(storeRetryPolicy, next.storeFailures + 1)
    next.isDue = false
    next.storeFailures++
    effects.push({ kind: 'set-timer', at: now + pause })
    return
  }
  stop(next, effects)
  if (next.lease) effects.push({ kind: 'report-crash', cause })
  else effects.push({ kind: 'report-lost' }, { kind: 'refuse', cause })
}

/** The append may have been written: its attempts may be in the journal, and were never sent. */
function undoUnanswered(next: NextState, decision: Decision, effects: Effect[]): void {
  const unsent = new Map(next.unsent)
  for (const { nodeId } of decision.step.starts)
    unsent.set(nodeId, next.run?.nodes.get(nodeId)?.attempts ?? 0)
  undo(next, decision, effects)
  next.unsent = unsent
}

function lose(next: NextState, effects: Effect[]): void {
  stop(next, effects)
  effects.push({ kind: 'report-lost' })
}

/** Releases the run: calls are abandoned, and nothing more is written. What is in the journal is whole, and its next owner continues from there. */
function stop(next: NextState, effects: Effect[]): void {
  if (next.isStopped) return
  next.isStopped = true
  effects.push({ kind: 'stop-waiting' }, { kind: 'abandon-calls' }, { kind: 'end-slot-turn', more: false })
}
