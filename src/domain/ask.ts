/** A question to a person, bound to the exact value that it shows, and the answer. */
import type { Json } from '../base/json.ts'
import type { JsonSchema } from '../schema/json-schema.ts'
import type { Action } from './policy.ts'

/**
 * Why a person is asked: to approve a value (`approval`), a policy or a side effect (`policy`, `side_effect`),
 * the whole answer (`final`); to say what to do after a failure or an unknown outcome (`failure`, `unknown_outcome`);
 * to do the work (`task`); or to make something clear (`clarify`).
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

export type Decision = 'approve' | 'edit' | 'reject' | 'answer'

/** How an ask ends: by a decision, without one, or because what it asked about became known (`unknown_outcome`). */
export type Resolution = Decision | 'expired' | 'settled'

export interface Ask {
  readonly requestId: string
  readonly kind: AskKind
  readonly nodeId?: string
  readonly policyId?: string
  readonly question: string
  /** What is shown; the reply must name its hash. */
  readonly value: Json
  readonly valueHash: string
  /** What an edited or answered value must satisfy. */
  readonly schema?: JsonSchema
  readonly decisions: readonly Decision[]
  /** What a policy's ask leads to; absent means resume after approval and fail after rejection. */
  readonly approveAction?: Action
  readonly rejectAction?: Action
  /** Milliseconds since 1970; after that it counts as rejected. */
  readonly expiresAt: number
}

export interface Reply {
  readonly requestId: string
  readonly decision: Decision
  readonly value?: Json
  readonly valueHash: string
  readonly note?: string
  /** Who; `system` for an expiry. */
  readonly by: string
}
