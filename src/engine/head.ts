/** What a store keeps beside the journal: where the run stands, and when somebody has to look at it. */
import { type Ask, isAboutAnswer } from '../domain/ask.ts'
import type { TimerPurpose } from '../domain/event.ts'
import type { HeadUpdate } from '../domain/ports/store.ts'
import type { RunState } from '../domain/run.ts'
import type { RunStatus } from '../domain/status.ts'
import { hasIterationWork } from './iteration-work.ts'

export function statusOf(state: RunState): RunStatus {
  if (state.finished) return state.finished.status
  if (state.running.size > 0 || mayGoOn(state)) return state.plan ? 'running' : 'pending'
  if (state.openAsks.size > 0) return 'awaiting_hitl'
  if (state.paused) return 'awaiting_human'
  return state.plan ? 'running' : 'pending'
}

/** New attempts wait: for a person, a new plan, or the end. */
export function isHeld(state: RunState): boolean {
  if (state.paused || state.failing || state.cancel || state.planning || state.replan || state.finished)
    return true
  if (state.fatal.size > 0 || state.followUps.length > 0) return true
  return policyAskOpen(state) || finalAskOpen(state)
}

/** A policy's question holds the whole run, a node's only the node. */
export function policyAskOpen(state: RunState): boolean {
  return isOpen(state, ({ policyId }) => policyId !== undefined)
}

/** The question about the answer holds the end, and nothing else is left to hold; a new plan takes it back. */
export function finalAskOpen(state: RunState): boolean {
  return isOpen(state, isAboutAnswer)
}

/** A node that is lost for good is not the end: a new plan is ordered or being made, or a person has the next word. */
export function isToGoOn(state: RunState): boolean {
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
 * Whether `decide` has something to do although nothing new has happened. Too much, and a run that waits is claimed for
 * ever; too little, and nobody comes for one that could go on.
 */
function mayGoOn(state: RunState): boolean {
  if (state.finished) return false
  if (state.cancel || state.failing || state.planning || state.followUps.length > 0) return true
  if (state.judging.size > 0 || state.dead.size > 0) return true
  if (state.paused || policyAskOpen(state)) return false
  if (!state.plan || state.replan || state.fatal.size > 0) return true
  if (finalAskOpen(state)) return false
  return state.ready.size > 0 || state.unsettled === 0 || hasIterationWork(state)
}

/** `now` while there is something to do, else the first timer, else nothing: it waits for a person. */
export function headOf(state: RunState, now: number): HeadUpdate {
  const status = statusOf(state)
  const { plan, finished } = state
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
  }
}

/** A run that only waits for a retry is looked at then; any other may be taken over at once when its holder dies. */
function wakeTime(state: RunState, now: number): number {
  if (state.running.size > 0 || mayGoOn(state)) return now
  return firstTimer(state) ?? now
}

export function firstTimer(state: RunState): number | undefined {
  let first: number | undefined
  for (const { dueAt } of state.timers.values()) if (first === undefined || dueAt < first) first = dueAt
  return first
}

/** The timer whose time came first, of those that are due; of several at the same time the first by name. */
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
