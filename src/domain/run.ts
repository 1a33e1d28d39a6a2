/** The state of a run: the fold of its journal. Only `fold.ts` changes it. */

import type { Json } from '../base/json.ts'
import type { CompileOptions } from '../schema/compile/compile.ts'
import type { Ask, AskKind, Resolution } from './ask.ts'
import type { CallKey, DoubtfulCall, StartedCall } from './attempt/call-key.ts'
import type { DiagnosticBundle } from './diagnostic.ts'
import type { Envelope } from './envelope.ts'
import type { EventPayloads, Failure, PlanTrigger, TimerPurpose } from './event.ts'
import type { RecordedFeedback } from './feedback.ts'
import type { LoopState } from './loop/loop-state.ts'
import type { GrantScope, ToolGrant } from './loop-facts.ts'
import type { AttemptResult, ElicitedAnswer, Output } from './output.ts'
import type { Draft, Plan, PlanEdge, PlanNode } from './plan.ts'
import type { Action } from './policy.ts'
import type { NodeStatus, RunStatus } from './status.ts'
import type { ThreadContext } from './thread/thread-context.ts'

interface AttemptState extends StartedCall {
  readonly attempt: number
  readonly deadlineAt?: number
  /** The agent accepted the call and answers by callback until the deadline. */
  readonly accepted?: { readonly agent: string; readonly deadlineAt: number }
  readonly result?: AttemptResult
  readonly endedAt?: number
}

/** Every member is there from the beginning, if only as `undefined`: states of one shape are read several times as fast. */
export interface NodeState {
  readonly node: PlanNode
  status: NodeStatus
  /** Incoming edges whose source is not settled yet, of either kind. */
  open: number
  /** Incoming control edges, and how many of them are followed. */
  control: number
  live: number
  started: boolean
  startedAt?: number | undefined
  /** The last attempt; earlier ones are in the journal. */
  attempt?: AttemptState | undefined
  attempts: number
  /** Which of `[capabilityId, ...alternates]` is in use, and how many of its attempts have failed. */
  candidate: number
  failures: number
  /** Attempts during which a living process lost its lease, since the last outcome that is known. */
  lostLeases?: Set<number> | undefined
  /** Attempts whose outcome is unknown. */
  unknowns: number
  /** Attempts that needed an answer first. */
  questions: number
  /** Parts of the idempotency key besides run and node. */
  key: CallKey
  /** Usage of all its attempts. */
  tokens: number
  costUsd: number
  output?: Output | undefined
  completed?: EventPayloads['node_complete'] | undefined
  failed?: EventPayloads['node_error'] | undefined
  /** Why it was skipped. */
  skipped?: EventPayloads['node_skipped'] | undefined
  /** The reply of a person, until its consequence is in the journal. */
  reply?: AskReply | undefined
  /** Answers of people to its questions, oldest first; part of the next attempt's context. */
  clarifications: Json[]
  /** Those to questions with a state, with the state. */
  elicited?: ElicitedAnswer[]
  /** A call that may have taken effect and must not be repeated until a person allows it. */
  unsure?: DoubtfulCall | undefined
  /** The turns and tool calls of an agent, over all attempts. */
  loop?: LoopState | undefined
  /** The item or round that contains it. */
  instance?: string | undefined
  /** A map or a loop that has begun. */
  iterations?: Iterations | undefined
  /** Number of reruns of a map or loop after a rejection: each rerun makes new calls. */
  passes?: number | undefined
  /** Capabilities with unapproved outputs in finished items and rounds: the run has read their content. */
  unapproved?: Set<string> | undefined
  /** An item or round that is over has a degraded answer. */
  degradedWithin?: true | undefined
}

/** A call that a person approved, exactly as shown. */
interface ApprovedCall {
  readonly capabilityId: string
  readonly inputs: Json
}

/** Calls in doubt of a node that no longer exists. */
export interface LeftDoubts extends Pick<NodeState, 'key' | 'unsure'> {
  /** The node completed, so the result of the call is known. */
  readonly isDone: boolean
}

/** Result of one item of a map or one round of a loop. */
export type IterationResult = { readonly value: Json } | { readonly failure: IterationFailure }

export type IterationFailure = Pick<EventPayloads['node_error'], 'outcome' | 'error'>

/** A running map or loop. Grows by one result per item; the nodes of finished items are removed. */
export interface Iterations {
  /** Inputs at its start. */
  readonly inputs: { readonly [name: string]: Json }
  /** Number of items, or maximum number of rounds. */
  readonly total: number
  /** By index of the item, or number of the round minus one. */
  readonly results: (IterationResult | undefined)[]
  /** Position from which to search for the next one without a result. */
  next: number
  /** Number of ended ones, and of those without a value. */
  ended: number
  failed: number
  /** Ids of the running instances. */
  readonly active: Set<string>
  /** Subsets of `active`: all nodes are settled, or a failed node ended the instance. */
  readonly settled: Set<string>
  readonly doomed: Set<string>
  /** Failure of the node, applied when nothing of it is in flight. */
  failure?: IterationFailure
}

/** One running item of a map (`node[3]`) or round of a loop (`node#2`). */
export interface Instance {
  readonly id: string
  /** The map or loop. */
  readonly of: string
  /** Index of the item, or number of the round. */
  readonly index: number
  /** Ids of its nodes. */
  readonly nodes: readonly string[]
  unsettled: number
  /** The node that failed without an edge that handles the failure. */
  fatal?: string
}

export interface AskReply {
  readonly kind: AskKind
  readonly requestId: string
  readonly decision: Resolution
  readonly value?: Json
  readonly by: string
  readonly note?: string
  /** Action after a rejection. */
  readonly action?: Action
  readonly grant?: GrantScope
}

/** A pending action that a person's reply triggered. */
interface FollowUp {
  readonly requestId: string
  readonly policyId: string
  readonly action: Action
  readonly nodeId?: string
  readonly decision: Resolution
}

export interface Planning {
  readonly attempt: number
  readonly phase: 'initial' | 'replan'
  readonly trigger: PlanTrigger
  /** Capabilities that were candidates for the plan, and active, where it was requested. */
  readonly candidates: readonly string[]
  /** Why the draft of this attempt was rejected; absent while it is drafted. */
  rejected?: DiagnosticBundle
  /** Why no further draft is requested. */
  final?: string
  /** Why the previous draft was rejected. */
  readonly previous?: DiagnosticBundle
}

export interface RunState {
  readonly runId: string
  /** Owner of the run: planned and executed with the catalog of this tenant. */
  readonly tenant: string
  /** How the app of this process compiles the schemas of the run; a setting of the app, not part of the journal. */
  readonly compileOptions?: CompileOptions | undefined
  /** Sequence number of the last event folded in. */
  seq: number
  readonly startedAt: number
  readonly envelope: Envelope
  readonly schemaHash: string
  readonly draft?: Draft | undefined
  readonly traceparent?: string | undefined
  readonly correlationId: string
  readonly threadId?: string | undefined
  /** What it knows of the earlier runs of its thread. */
  readonly thread?: ThreadContext | undefined
  plan?: Plan | undefined
  planVersion: number
  planning?: Planning | undefined
  /** A new plan was ordered; it is requested once nothing is in flight. */
  replan?: PlanTrigger | undefined
  replans: number
  nodes: Map<string, NodeState>
  /** Calls in doubt of nodes whose item or round is over, by node. */
  leftInDoubt: Map<string, LeftDoubts>
  /** Calls in doubt under earlier plans that the current plan has not reused, by node. */
  earlierDoubts: Map<string, LeftDoubts>
  /** Running maps and loops, and their items and rounds. */
  iterating: Set<string>
  instances: Map<string, Instance>
  /** Results of maps and loops that a new plan interrupted: the plan may contain the same ones. */
  interrupted: Map<
    string,
    Pick<NodeState, 'node' | 'iterations'> & {
      readonly nodes: Map<string, NodeState>
      /** Those of the nodes that keep their results. */
      readonly kept: ReadonlySet<string>
    }
  >
  /** Edges by the node they leave. */
  outgoing: Map<string, PlanEdge[]>
  // Nodes by pending work, so that a decision costs as much as the work and not as the size of the plan.
  ready: Set<string>
  running: Set<string>
  judging: Set<string>
  /** To be skipped: no control edge to it is followed, or a required input has no source. */
  dead: Set<string>
  /** Failed without an edge that handles the failure. */
  fatal: Set<string>
  /** Number of nodes that are not settled. */
  unsettled: number
  asks: Map<string, Ask>
  openAsks: Set<string>
  /** Approved side effects by node: each is one call of a capability with the inputs shown. */
  approvedCalls: Map<string, ApprovedCall[]>
  /** Tools that people have allowed for the rest of the run. */
  grants?: ToolGrant[] | undefined
  /** Asks that were closed without a decision: expired or withdrawn. */
  unanswered?: Set<string> | undefined
  /** Who has approved asks that need several people, by request id. */
  approvals?: Map<string, readonly string[]> | undefined
  /** Kinds of the asks that a new plan has withdrawn, by node, until it is installed; and the number of all. */
  withdrawn: Map<string, AskKind>
  withdrawals: { tool: number; other: number }
  /** The latest feedback, oldest first. */
  feedback: RecordedFeedback[]
  /** Number of reworks after a rejection, by node; of the answer under the empty name. */
  reworks: Map<string, number>
  followUps: FollowUp[]
  timers: Map<string, { readonly dueAt: number; readonly purpose: TimerPurpose }>
  policyFired: Map<string, number>
  /** Version of the plan under which a policy acted on the whole answer: its contract, or its satisfaction. */
  answerJudged?: number | undefined
  /** The run fails as soon as nothing is in flight. */
  failing?: Failure | undefined
  paused?: { readonly reason: string; readonly policyId?: string; readonly isQuarantine?: true } | undefined
  budget: {
    reservedCalls: number
    reservedTokens: number
    reservedCostUsd: number
    calls: number
    tokens: number
    /** Input part of `tokens`. */
    inputTokens: number
    costUsd: number
  }
  /** Reservations of open attempts, by node. */
  reserved: Map<string, { readonly calls: number; readonly tokens: number; readonly costUsd?: number }>
  /** Hash of the last link of the audit chain. */
  audit: string
  cancel?: { readonly by: string; readonly reason?: string } | undefined
  /** Reply of a person about the whole answer. */
  finalReply?: AskReply | undefined
  finished?: EventPayloads['complete'] | undefined
}

/** Summary of a run beside the journal, so that stores find work without folding. */
export interface RunHead {
  readonly runId: string
  readonly tenant: string
  readonly seq: number
  readonly status: RunStatus
  readonly planVersion: number
  /** When the run is due: now or earlier if it can continue, later for a timer, never if absent. */
  readonly wakeAt?: number
  /** Claimed before or after runs of normal priority; absent: normal. */
  readonly priority?: 'low' | 'high'
  /** Labels that a process needs to claim the run, such as `region=eu`; absent: none. */
  readonly placement?: string
  readonly createdAt: number
  readonly updatedAt: number
  readonly objective: string
  /** Name of the pipeline or template of the run: `pipeline` of the envelope's metadata. */
  readonly pipeline?: string
  readonly schemaHash: string
  readonly threadId?: string
  readonly correlationId: string
  readonly satisfactionScore?: number
  readonly observedSatisfaction?: number
  /** What the run has used so far; absent while it is zero or unknown. */
  readonly costUsd?: number
  readonly tokens?: number
}
