/** The statuses of runs and nodes, and the sets of run statuses that other modules ask about. */

/** Terminal: the run has ended, and its status no longer changes. */
export const terminalStatuses = ['completed', 'failed', 'cancelled'] as const

/**
 * The run waits for a person. `awaiting_hitl`: an ask is open; `awaiting_human`: paused by a policy until it is resumed;
 * `quarantined`: two processes lost their lease in one attempt, and an operator has to resume or cancel it.
 */
export const waitingStatuses = ['awaiting_hitl', 'awaiting_human', 'quarantined'] as const

/** The run has work to do. `pending`: it has no plan yet. */
export const activeStatuses = ['pending', 'running'] as const

export const runStatuses = [...activeStatuses, ...waitingStatuses, ...terminalStatuses] as const

export type TerminalStatus = (typeof terminalStatuses)[number]
export type WaitingStatus = (typeof waitingStatuses)[number]
export type RunStatus = (typeof runStatuses)[number]

export function isTerminal(status: string): status is TerminalStatus {
  return (terminalStatuses as readonly string[]).includes(status)
}

export function isWaiting(status: string): status is WaitingStatus {
  return (waitingStatuses as readonly string[]).includes(status)
}

/** Whether the run has ended or waits for a person. */
export function isSettled(status: string): boolean {
  return isTerminal(status) || isWaiting(status)
}

/**
 * `pending` waits for others; `ready` may start; `running` has an open attempt; `judging` has one that ended and was not
 * judged yet; `waiting` waits for a timer; `awaiting_hitl` for a person; the last three are settled.
 */
export type NodeStatus =
  | 'pending'
  | 'ready'
  | 'running'
  | 'judging'
  | 'waiting'
  | 'awaiting_hitl'
  | 'completed'
  | 'error'
  | 'skipped'
