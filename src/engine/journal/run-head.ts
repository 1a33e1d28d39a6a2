/** Computes the head of a run, which a store keeps beside the journal: status, and when the run is due next. */
import { type Ask, isAboutAnswer } from '../../domain/ask.ts'
import type { TimerPurpose } from '../../domain/event.ts'
import type { HeadUpdate } from '../../domain/ports/store.ts'
import type { NodeState, RunState } from '../../domain/run.ts'
import type { RunStatus } from '../../domain/status.ts'

// Iterations: whether maps and loops have pending work.

/** Default for concurrent attempts of one run. */
export const defaultConcurrency = 16

/** Maximum number of concurrent items; rounds run one after the other. */
export function getConcurrency({ plan }: RunState, { node }: NodeState): number {
  if (node.map === undefined) return 1
  return node.map.concurrency ?? plan?.limits.concurrency ?? defaultConcurrency
}

/** Whether an item or a round can start or end without a new event. */
function hasIterationWork(state: RunState): boolean {
  for (const nodeId of state.iterating) {
    const node = state.nodes.get(nodeId)
    // A node whose output does not satisfy its contract may wait for a person.
    if (!node?.iterations || node.status !== 'running') continue
    const { active, settled, doomed, failure, next, total } = node.iterations
    if (settled.size > 0 || doomed.size > 0 || failure || active.size === 0) return true
    if (next < total && active.size < getConcurrency(state, node)) return true
  }
  return false
}

export function getRunStatus(state: RunState): RunStatus {
  if (state.finished) return state.finished.status
  if (state.running.size > 0 || hasWork(state)) return state.plan ? 'running' : 'pending'
  if (state.paused?.isQuarantine) return 'quarantined'
  if (state.openAsks.size > 0) return 'awaiting_hitl'
  if (state.paused) return 'awaiting_human'
  return state.plan ? 'running' : 'pending'
}

/** Whether new attempts are on hold: for a person, a new plan, or the end of the run. */
export function isHeld(state: RunState): boolean {
  if (state.paused || state.failing || state.cancel || state.planning || state.replan || state.finished)
    return true
  if (state.fatal.size > 0 || state.followUps.length > 0 || isRouteRejected(state)) return true
  return policyAskOpen(state) || finalAskOpen(state)
}

/** The producers of a rejected route run again once no attempt is in flight (`judge.ts`): no new attempt starts before. */
function isRouteRejected({ judging, nodes }: RunState): boolean {
  for (const nodeId of judging) if (nodes.get(nodeId)?.node.routing) return true
  return false
}

/** An ask of a policy holds the whole run, an ask of a node only the node. */
export function policyAskOpen(state: RunState): boolean {
  return isOpen(state, ({ policyId }) => policyId !== undefined)
}

/** The ask about the answer holds only the end of the run, the last thing left to do; a new plan withdraws it. */
export function finalAskOpen(state: RunState): boolean {
  return isOpen(state, isAboutAnswer)
}

/**
 * Whether the run continues although a node has failed for good: a new plan is ordered or in progress, the run is paused,
 * or a policy asks a person.
 */
export function isToContinue(state: RunState): boolean {
  const { replan, planning, paused } = state
  return replan !== undefined || planning !== undefined || paused !== undefined || policyAskOpen(state)
}

function isOpen(state: RunState, matches: (ask: Ask) => boolean): boolean {
  for (const id of state.openAsks) {
    const ask = state.asks.get(id)
    if (ask && matches(ask)) return true
  }
  return false
}

/**
 * Whether `decide` has something to do without a new event. If true too often, a waiting run is claimed forever; if false
 * too often, a run that could continue is never claimed.
 */
function hasWork(state: RunState): boolean {
  if (state.finished) return false
  if (state.cancel || state.failing || state.planning || state.followUps.length > 0) return true
  if (state.judging.size > 0 || state.dead.size > 0) return true
  if (state.paused || policyAskOpen(state)) return false
  if (!state.plan || state.replan || state.fatal.size > 0) return true
  if (finalAskOpen(state)) return false
  return state.ready.size > 0 || state.unsettled === 0 || hasIterationWork(state)
}

/** `wakeAt` is now while there is something to do, else the first timer, else absent: the run waits for a person. */
export function buildRunHead(state: RunState, now: number): HeadUpdate {
  const status = getRunStatus(state)
  const { plan, finished, budget } = state
  const observed = finished?.observedSatisfaction
  const wakeAt = finished
    ? undefined
    : status === 'running' || status === 'pending'
      ? wakeTime(state, now)
      : firstTimer(state)
  return {
    status,
    planVersion: state.planVersion,
    ...(wakeAt !== undefined && { wakeAt }),
    ...(plan && { satisfactionScore: plan.diagnostics.satisfactionScore }),
    ...(observed !== undefined && { observedSatisfaction: observed }),
    ...(budget.costUsd > 0 && { costUsd: budget.costUsd }),
    ...(budget.tokens > 0 && { tokens: budget.tokens }),
  }
}

/** A run that only waits for a retry is due at its timer; any other may be claimed at once when its owner dies. */
function wakeTime(state: RunState, now: number): number {
  if (state.running.size > 0 || hasWork(state)) return now
  return firstTimer(state) ?? now
}

export function firstTimer(state: RunState): number | undefined {
  let first: number | undefined
  for (const { dueAt } of state.timers.values()) if (first === undefined || dueAt < first) first = dueAt
  return first
}

/** Returns the due timer with the earliest time; ties are broken by id. */
export function firstDue(
  state: RunState,
  now: number,
): { readonly timerId: string; readonly dueAt: number; readonly purpose: TimerPurpose } | undefined {
  let first: { timerId: string; dueAt: number; purpose: TimerPurpose } | undefined
  for (const [timerId, { dueAt, purpose }] of state.timers) {
    if (dueAt > now) continue
    const sooner = !first || dueAt < first.dueAt || (dueAt === first.dueAt && timerId < first.timerId)
    if (sooner) first = { timerId, dueAt, purpose }
  }
  return first
}
