/** Port to executors of nodes: one dispatcher per kind of capability. */
import type { Json } from '../../base/json.ts'
import type { JsonSchema } from '../../schema/json-schema.ts'
import type { Capability } from '../capability.ts'
import type { Feedback } from '../feedback.ts'
import type { AttemptResult, ElicitedAnswer, Usage } from '../output.ts'
import type { NodeConstraints } from '../plan.ts'
import type { ModelSettings } from '../settings/model-settings.ts'
import type { ThreadContext } from '../thread/thread-context.ts'
import type { AgentLoop } from './agent-loop.ts'
import type { Trace } from './trace.ts'

/** The context of an attempt. Each attempt gets its own copy, so that nothing of a failed attempt reaches another. */
export interface Bundle {
  readonly objective: string
  readonly inputs: Json
  readonly instructions: string
  readonly specialInstructions: readonly string[]
  /** Background knowledge: `data.knowledge` of the node. */
  readonly knowledge?: readonly string[]
  /** Schema of the result. */
  readonly returns: JsonSchema
  /** Answers of people to questions, oldest first: a value of the schema of the question, or a text where it has none. */
  readonly clarifications: readonly Json[]
  /** Earlier runs of the thread, within its budget. */
  readonly conversation?: Omit<ThreadContext, 'grants'>
  /** Answers to questions with a state, oldest first. */
  readonly elicited?: readonly ElicitedAnswer[]
  /** What people and checks said about earlier outputs of the node, oldest first. */
  readonly feedback?: readonly Feedback[]
}

export interface Dispatch {
  /** Tenant of the run. Default `default`. */
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
  /** Tokens and dollars left for the node and reserved in its run; absent if unlimited. */
  readonly tokens?: number
  readonly costUsd?: number
  /** The node's own data, such as `processing`. */
  readonly data?: { readonly [key: string]: Json }
  /** Settings of model calls, of the capability, the envelope and the node put together. */
  readonly modelSettings?: ModelSettings
  /** Constraints depend on this node: a degraded text answer is not accepted (C18, C55). Default false. */
  readonly constrained?: boolean
  /** Run the patterns of schemas in linear time: schemas of the app may be untrusted. Default false. */
  readonly linearPatterns?: boolean
  /** Trace context of the call, propagated over the wire. Absent if tracing is off. */
  readonly trace?: Trace
  /** Deadline of the node or the run, whichever is earlier, in milliseconds since 1970: nothing waits beyond it. */
  readonly deadlineAt?: number
  /** Aborted when the run ends, the node times out or the process stops. The reason `RunMovedOn`: the call is not needed any more. */
  readonly signal: AbortSignal
  /** Receives trace events during the call (`output.coercion.success`, `grammar.applied`, …). */
  readonly onEvent: (event: string, payload?: { readonly [key: string]: Json }) => void
  /** Reports the total usage so far before and after every call, so that an interrupted attempt is still charged. */
  readonly onUsage?: (usage: Usage) => void
  /** The journal and the tools of an agent; absent for all other capabilities. */
  readonly agentLoop?: AgentLoop
  /** An agent calls it as a tool: it must answer at once. Default false. */
  readonly isTool?: true
  /** Reports that the call was accepted. Recorded, so that after a crash the engine only waits for the answer (`resume`). */
  readonly onAccepted?: (accepted: { readonly deadlineAt: number }) => void
}

/** A call accepted earlier, of this process or another. The capability may no longer be known here. */
export interface AcceptedCall extends Omit<Dispatch, 'capability' | 'deadlineAt' | 'onAccepted'> {
  readonly capabilityId: string
  /** Deadline of its answer. */
  readonly deadlineAt: number
}

export interface Dispatcher {
  readonly kind: string
  /** Uses the network: refused for nodes with `no_network_access`. */
  readonly remote: boolean
  /**
   * Its values are plain JSON that it created itself (parsed text, for example) and that no other code holds, so they are
   * not copied again. Default: results are copied, and refused if JSON cannot represent them.
   */
  readonly plain?: true
  /**
   * It retries throttled and undelivered calls itself, because it makes several calls per attempt: its results are final.
   * Default: the engine retries, with the same backoff.
   */
  readonly retries?: true
  /** Resolves with the outcome of the call; a rejection counts as `provider_error`. */
  dispatch(call: Dispatch): Promise<AttemptResult>
  /** Waits for the answer to an accepted call until its deadline, without repeating the call; undefined if none came. */
  resume?(call: AcceptedCall): Promise<AttemptResult | undefined>
}
