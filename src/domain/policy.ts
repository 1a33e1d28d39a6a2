/** Policies of a caller: what plans may look like, and how to react to events in a run. */
import type { Json } from '../base/json.ts'
import type { Condition } from './contract.ts'
import type { RejectAction } from './feedback.ts'
import type { RaoSettings } from './rao/settings.ts'

export interface Policies {
  readonly planner: PlannerPolicy
  /** Triggers in order (for one event the first match wins), and RAO contracts, of which all that match apply. */
  readonly runtime: readonly (RuntimePolicy | RaoPolicy)[]
  /** What follows when a node has failed for good, no `fail` edge leads on and the node itself does not say. Default `fail`. */
  readonly onNodeFail?: 'ask' | 'fail'
  /** What follows when a person rejects the answer or a labelled node's output, and the reply does not say. Default `retry`. */
  readonly rejectAction?: RejectAction
  /** How many different people must approve before an ask counts as approved (four-eyes principle). Default 1. */
  readonly approvers?: number
}

export interface PlannerPolicy {
  readonly topology?: {
    readonly variantCount?: number
    readonly maxDepth?: number
    readonly requiredKinds?: readonly string[]
    readonly forbiddenKinds?: readonly string[]
  }
  readonly selection?: {
    readonly require?: readonly string[]
    readonly forbid?: readonly string[]
    readonly prefer?: readonly string[]
    readonly avoid?: readonly string[]
  }
  readonly optimisation?: {
    readonly objective?: 'speed' | 'quality' | 'diversity' | 'token_efficiency'
    /** Also the run's limit of tokens. */
    readonly maxTokens?: number
  }
  /**
   * Free hints for the planner; some mean something to the engine. `askBeforeFinish: true`: a person approves the answer;
   * `hitlRequiredFor: [label]`: a person is asked at nodes with that label; `branchVariants`: one branch node each;
   * `sideEffects: "allow"` lifts the approval that a tainted run needs; the default is `"ask"`.
   */
  readonly directives?: {
    readonly askBeforeFinish?: boolean
    readonly hitlRequiredFor?: readonly string[]
    readonly branchVariants?: number | readonly Json[]
    readonly sideEffects?: 'ask' | 'allow'
    readonly [directive: string]: Json
  }
}

export interface RuntimePolicy {
  readonly id: string
  readonly enabled: boolean
  readonly trigger: Trigger
  readonly action: Action
  /**
   * How often it may act in one run; what would set it off after that is only logged (`policy.exhausted`). Default: no limit.
   * New plans have a limit of their own, `maxReplans` of the run: a policy that orders one more ends it.
   */
  readonly maxAttempts?: number
}

/** Puts the nodes that it selects under a RAO contract. Resolved by the proof, which shows what it selected. */
export interface RaoPolicy {
  readonly id: string
  readonly enabled: boolean
  /** Absent: every node that calls something. */
  readonly selector?: RaoSelector
  readonly rao: RaoSettings
}

/** All fields must match. Unlike those of triggers it may name a node: if the plan has no node of this name, it is rejected. */
export interface RaoSelector extends Selector {
  /** The node's id, in a body its own. */
  readonly nodeId?: string
  /** A facet of the node's output. */
  readonly facet?: string
}

export function isRaoPolicy(policy: RuntimePolicy | RaoPolicy): policy is RaoPolicy {
  return 'rao' in policy
}

/** The policies that something in the run sets off. */
export function listTriggers({ runtime }: Pick<Policies, 'runtime'>): readonly RuntimePolicy[] {
  return runtime.filter((policy): policy is RuntimePolicy => !isRaoPolicy(policy))
}

/** Static: by kind or by capability; all fields must match, none means every node. */
export interface Selector {
  readonly kind?: string
  readonly capabilityId?: string
}

export type Trigger =
  | { readonly kind: 'onStart' }
  | { readonly kind: 'onNodeComplete'; readonly selector?: Selector; readonly condition?: Condition }
  | { readonly kind: 'onValidationFail'; readonly selector?: Selector; readonly condition?: Condition }
  | { readonly kind: 'onTimeout'; readonly ms: number }
  | { readonly kind: 'onMetricBelow'; readonly metric: string; readonly threshold: number }
  | { readonly kind: 'manual' }

export type TriggerKind = Trigger['kind']

export type Action =
  | { readonly type: 'replan'; readonly rationale?: string }
  | {
      readonly type: 'hitl'
      readonly rationale?: string
      /** After approval; absent means resume. */
      readonly approveAction?: Action
      /** After rejection; absent means fail. */
      readonly rejectAction?: Action
    }
  /** Only after a rejection: the nodes that the ask is about run again and see the reply as feedback. */
  | { readonly type: 'retry' }
  | { readonly type: 'fail'; readonly message?: string }
  | { readonly type: 'pause'; readonly reason?: string }
  | { readonly type: 'emit'; readonly event: string; readonly payload?: { readonly [key: string]: Json } }
