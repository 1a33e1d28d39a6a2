/** Every name under which a run or a node fails, one row each: printed into the reference, and complete because the types are. */
import type { Outcome } from './output.ts'

/** Names that stand for the outcome of an attempt: `attempt/invalid`, `attempt/timed_out` … */
export type AttemptCode = `attempt/${Outcome}`

/** What a node, a plan or a run fails of besides its attempts. */
export const failureTable = {
  'ask/limit': 'a person was needed, and the run has asked as often as it may',
  'ask/rejected': 'a person refused, or nobody replied in time',
  'budget/exhausted': 'the budget of the run does not allow the next node to start',
  'contract/unmet': 'everything is done, and the answer does not satisfy the contract',
  'node/failed': 'a node failed, and no edge leads on',
  'node/input-invalid': 'what came in does not satisfy the contract of the node',
  'node/no-route': 'no route of a routing node applies',
  'plan/rejected': 'no plan was proved to satisfy the contract',
  'plan/replan-limit': 'a new plan was ordered, and the run has had as many as it may',
  'policy/fail': 'a policy ended the run',
  'rao/contract': 'the RAO contract of a node cannot be used',
  'rao/suppressed': 'the confidence of the output is too low',
  'run/cancelled': 'somebody cancelled the run',
  'run/deadline': 'the time of the run is over',
} as const

/** A journal of an older or newer version may hold others; they are read as `unexpected_error`. */
export type FailureCode = AttemptCode | keyof typeof failureTable
