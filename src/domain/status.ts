/** Statuses of runs and nodes. */

/** `awaiting_hitl`: an ask is open; `awaiting_human`: paused by a policy until a person resumes it. */
export type RunStatus =
  | 'pending'
  | 'running'
  | 'awaiting_hitl'
  | 'awaiting_human'
  | 'completed'
  | 'failed'
  | 'cancelled'

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
