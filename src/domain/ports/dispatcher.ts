/** The port to whoever does the work of a node: one dispatcher per kind of capability. */
import type { Json } from '../../base/json.ts'
import type { JsonSchema } from '../../schema/json-schema.ts'
import type { Capability } from '../capability.ts'
import type { Feedback } from '../feedback.ts'
import type { AttemptResult, Usage } from '../output.ts'
import type { NodeConstraints } from '../plan.ts'
import type { Trace } from './trace.ts'

/** All that an attempt may know: a copy of its own, so that nothing of a failed attempt reaches another. */
export interface Bundle {
  readonly objective: string
  readonly inputs: Json
  readonly instructions: string
  readonly specialInstructions: readonly string[]
  /** What is worth knowing besides the inputs: `data.knowledge` of the node. */
  readonly knowledge?: readonly string[]
  /** What must come back. */
  readonly returns: JsonSchema
  readonly clarifications: readonly string[]
  /** What people and checks said about earlier outputs of the node, oldest first. */
  readonly feedback?: readonly Feedback[]
}

export interface Dispatch {
  /** Whose run it is. Default `default`. */
  readonly tenant?: string
  readonly runId: string
  readonly nodeId: string
  readonly attempt: number
  readonly idempotencyKey: string
  /** A call under the same key was made before and may have taken effect. */
  readonly repeated?: true
  readonly capability: Capability
  readonly bundle: Bundle
  /** The node's RAO contract asks for an envelope instead of a bare value. */
  readonly rao: boolean
  readonly constraints: NodeConstraints
  /** Calls left in the node's budget. */
  readonly calls: number
  /** Tokens and dollars that are left for the node and reserved in its run; absent where nothing limits them. */
  readonly tokens?: number
  readonly costUsd?: number
  /** The node's own data, such as `processing`. */
  readonly data?: { readonly [key: string]: Json }
  /** Constraints depend on this node: no text may stand in for its answer (C18, C55). Default false. */
  readonly constrained?: boolean
  /** Run the patterns of schemas in linear time: schemas of the app may be untrusted. Default false. */
  readonly linearPatterns?: boolean
  /** The trace that the call belongs to; whoever calls over the wire sends it along. Absent where nobody traces. */
  readonly trace?: Trace
  /** When the node's time or the run's is over, in milliseconds since 1970: nothing is waited for beyond it. */
  readonly deadlineAt?: number
  /** Ends with the run, the node's time or the process. */
  readonly signal: AbortSignal
  /** Trace events on the way (`output.coercion.success`, `grammar.applied`, …). */
  readonly onEvent: (event: string, payload?: { readonly [key: string]: Json }) => void
  /** What has been spent so far, told before and after every call, so that an attempt that is cut off is still paid for. */
  readonly onUsage?: (usage: Usage) => void
  /** The call was accepted, and its answer comes later: it is recorded, and after a crash only waited for (`resume`). */
  readonly onAccepted?: (accepted: { readonly deadlineAt: number }) => void
}

/** A call that was accepted earlier, by this process or another one. The capability may be unknown here by now. */
export interface AcceptedCall extends Omit<Dispatch, 'capability' | 'deadlineAt' | 'onAccepted'> {
  readonly capabilityId: string
  /** How long its answer is waited for. */
  readonly deadlineAt: number
}

export interface Dispatcher {
  readonly kind: string
  /** It leaves this machine: refused for nodes with `no_network_access`. */
  readonly remote: boolean
  /**
   * Its values are plain JSON that it has made itself, such as text that it has parsed, and that nobody else holds: they are
   * not copied once more. Default: what it brings is copied, and refused where JSON cannot hold it.
   */
  readonly plain?: true
  /**
   * It tries calls again that were throttled or did not arrive, such as one that makes several calls in an attempt: what it
   * brings is final. Default: the engine does, with the same pauses.
   */
  readonly retries?: true
  /** Resolves with how the call ended; a rejection counts as `provider_error`. */
  dispatch(call: Dispatch): Promise<AttemptResult>
  /** Waits for the answer to an accepted call until its deadline, without making the call again; nothing if none came. */
  resume?(call: AcceptedCall): Promise<AttemptResult | undefined>
}
