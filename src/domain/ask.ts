/** A human-in-the-loop request, bound to the exact value that it shows, and the reply. */
import type { Issue } from '../base/errors/issue.ts'
import type { Json } from '../base/json.ts'
import type { JsonSchema } from '../schema/json-schema.ts'
import type { Condition } from './contract.ts'
import type { Decision, Feedback, RejectAction } from './feedback.ts'
import type { CallRef, GrantScope } from './loop-facts.ts'
import type { Action } from './policy.ts'
import type { RaoDecision } from './rao/rao-contract.ts'
import type { Assignment, TaskPerson } from './task/assignment.ts'

export type { Decision, RejectAction } from './feedback.ts'
export { identifyPerson } from './task/person.ts'

/**
 * Why a person is asked: to approve a value (`approval`), a policy or a side effect (`policy`, `side_effect`),
 * the whole answer (`final`); to say what to do after a failure or an unknown outcome (`failure`, `unknown_outcome`);
 * to do the work (`task`); to make something clear (`clarify`); or to decide about a call that an agent wants to make
 * (`tool`).
 */
export type AskKind =
  | 'approval'
  | 'policy'
  | 'side_effect'
  | 'final'
  | 'failure'
  | 'unknown_outcome'
  | 'task'
  | 'clarify'
  | 'tool'

/**
 * How an ask ends: by a decision, without one, because what it asked about became known (`unknown_outcome`), or because a new
 * plan is made, which raises it again for the same value where it has the same work.
 */
export type Resolution = Decision | 'expired' | 'settled' | 'withdrawn'

export interface Ask {
  readonly requestId: string
  readonly kind: AskKind
  readonly nodeId?: string
  readonly policyId?: string
  /**
   * The capability that approval lets the node call, with exactly the inputs that are shown, of `side_effect` and `tool` asks; the
   * capability of kind `human` of an assigned task.
   */
  readonly capabilityId?: string
  /** The call of an agent that it is about, and the name of the tool; of `tool` asks. */
  readonly toolCall?: CallRef & { readonly tool: string }
  readonly question: string
  /** What is shown; the reply must name its hash. */
  readonly value: Json
  readonly valueHash: string
  /** What an edited or answered value must satisfy. */
  readonly schema?: JsonSchema
  /** Conditions that it must satisfy besides. */
  readonly conditions?: readonly Condition[]
  /** The decision of the RAO contract that led to the ask. */
  readonly rao?: RaoDecision
  /** What is wrong with the value, where the ask is about a failure. */
  readonly issues?: readonly Issue[]
  /** The text that the value was read from, redacted; absent where none is stored. */
  readonly raw?: string
  readonly decisions: readonly Decision[]
  /** What approval leads to; absent means that the run continues. */
  readonly approveAction?: Action
  /** What a rejection leads to unless the reply says otherwise; absent means fail. */
  readonly rejectAction?: Action
  /** What a reply may name as its `rejectAction`; absent where it may name nothing. */
  readonly rejectActions?: readonly RejectAction[]
  /** What an approval may name as its `grant`: it then counts for later calls of the tool, too; of `tool` asks. */
  readonly grants?: readonly GrantScope[]
  /** Nodes whose outputs the value comes from: a rejection with `retry` runs them again. */
  readonly producers?: readonly string[]
  /** What was said about earlier values. */
  readonly feedback?: readonly Feedback[]
  /** How many different people must approve; absent: one. */
  readonly approvers?: number
  /** Whom a task is for, and who holds it. */
  readonly assignment?: Assignment
  /** Milliseconds since 1970; after that it counts as rejected. */
  readonly expiresAt: number
}

/** Whether an ask is about the whole answer: its approval, or that it does not satisfy the contract. */
export function isAboutAnswer({ kind, nodeId }: Pick<Ask, 'kind' | 'nodeId'>): boolean {
  return kind === 'final' || (kind === 'failure' && nodeId === undefined)
}

export interface Reply extends Omit<TaskPerson, 'by'> {
  readonly requestId: string
  readonly decision: Decision
  readonly value?: Json
  readonly valueHash: string
  /** What a rejection leads to, where the ask allows the reply to say so. */
  readonly rejectAction?: RejectAction
  /** Remember the approval for later calls of the tool, where the ask lists `grants`. */
  readonly grant?: GrantScope
  readonly note?: string
  /** Who; `system` for an expiry. */
  readonly by: string
}
