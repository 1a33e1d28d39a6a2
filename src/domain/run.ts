/** The state of a run: what folding its journal gives. Only `fold.ts` changes it. */

import type { Json } from '../base/json.ts'
import type { CompileOptions } from '../schema/compile/compile.ts'
import type { Ask, AskKind, Resolution } from './ask.ts'
import type { CallKey, DoubtfulCall, StartedCall } from './attempt/call-key.ts'
import type { DiagnosticBundle } from './diagnostic.ts'
import type { Envelope } from './envelope.ts'
import type { EventPayloads, Failure, PlanTrigger, TimerPurpose } from './event.ts'
import type { RecordedFeedback } from './feedback.ts'
import type { AttemptResult, Output } from './output.ts'
import type { Draft, Plan, PlanEdge, PlanNode } from './plan.ts'
import type { Action } from './policy.ts'
import type { NodeStatus, RunStatus } from './status.ts'

export interface AttemptState extends StartedCall {
  readonly attempt: number
  readonly deadlineAt?: number
  /** The agent has taken the call and calls back until then. */
  readonly accepted?: { readonly agent: string; readonly deadlineAt: number }
  readonly result?: AttemptResult
  readonly endedAt?: number
}

export interface NodeState {
  readonly node: PlanNode
  status: NodeStatus
  /** Incoming edges whose source is not settled yet, of either kind. */
  open: number
  /** Incoming control edges, and how many of them are followed. */
  control: number
  live: number
  started: boolean
  startedAt?: number
  /** The last attempt; earlier ones are in the journal. */
  attempt?: AttemptState
  attempts: number
  /** Which of `[capabilityId, ...alternates]` is in use, and how many of its attempts have failed. */
  candidate: number
  failures: number
  /** Attempts whose outcome is unknown. */
  unknowns: number
  /** Attempts that needed an answer first. */
  questions: number
  /** What the idempotency key is made of besides run and node. */
  key: CallKey
  /** What all its attempts took. */
  tokens: number
  costUsd: number
  output?: Output
  completed?: EventPayloads['node_complete']
  failed?: EventPayloads['node_error']
  /** Why it was never begun, where it was skipped. */
  skipped?: EventPayloads['node_skipped']
  /** What a person said about it, until the consequence is in the journal. */
  reply?: AskReply
  /** Answers of people to its questions, oldest first; part of the next attempt's context. */
  clarifications: string[]
  /** A call that may have taken effect and must not simply be made again, until a person says so. */
  unsure?: DoubtfulCall
  /** The item or round that it is a node of. */
  instance?: string
  /** A map or a loop that has begun. */
  iterations?: Iterations
  /** How often a map or a loop was run again after a rejection: the calls of its items are new ones each time. */
  passes?: number
  /** Capabilities whose outputs nobody has approved, of items and rounds that are over: what they read is still known. */
  unapproved?: Set<string>
  /** A text stood in for an answer in items or rounds that are over. */
  degradedWithin?: true
}

/** A call that a person has approved: as it was shown, and no other. */
export interface ApprovedCall {
  readonly capabilityId: string
  readonly inputs: Json
}

/** What a node that is no longer there has left in doubt. */
export interface LeftDoubts extends Pick<NodeState, 'key' | 'unsure'> {
  /** It has completed: what it was called for is known. */
  readonly isDone: boolean
}

/** What one item of a map or one round of a loop has come to. */
export type IterationResult = { readonly value: Json } | { readonly failure: IterationFailure }

export type IterationFailure = Pick<EventPayloads['node_error'], 'outcome' | 'error'>

/** A map or a loop under way. Grows by one result per item; the nodes of finished items are not kept. */
export interface Iterations {
  /** What it was given when it began. */
  readonly inputs: { readonly [name: string]: Json }
  /** Items of the list, or the most rounds. */
  readonly total: number
  /** By index, or by round less one. */
  readonly results: (IterationResult | undefined)[]
  /** Where to look for the next one without a result. */
  next: number
  /** How many have ended, and how many of them without a value. */
  ended: number
  failed: number
  /** Ids of the instances under way. */
  readonly active: Set<string>
  /** Of these, those whose nodes are all settled, and those that a failed node has ended. */
  readonly settled: Set<string>
  readonly doomed: Set<string>
  /** Why the node fails once nothing of it is in flight. */
  failure?: IterationFailure
}

/** One item of a map (`node[3]`) or one round of a loop (`node#2`) under way. */
export interface Instance {
  readonly id: string
  /** The map or loop. */
  readonly of: string
  /** Index of the item, or number of the round. */
  readonly index: number
  /** Ids of its nodes. */
  readonly nodes: readonly string[]
  unsettled: number
  /** The node that failed with no edge leading on. */
  fatal?: string
}

export interface AskReply {
  readonly kind: AskKind
  readonly requestId: string
  readonly decision: Resolution
  readonly value?: Json
  readonly by: string
  readonly note?: string
  /** What a rejection leads to. */
  readonly action?: Action
}

/** An action that a person's reply set off and that is not carried out yet. */
export interface FollowUp {
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
  /** Why the draft of this attempt was refused; absent while it is being made. */
  rejected?: DiagnosticBundle
  /** Why nobody is asked for another draft. */
  final?: string
  /** Why the draft before this attempt was refused. */
  readonly previous?: DiagnosticBundle
}

export interface RunState {
  readonly runId: string
  /** Whose run it is: it is planned and run with what this tenant may see. */
  readonly tenant: string
  /** How the app of this process compiles the schemas of the run; a setting of the app, not part of the journal. */
  readonly compileOptions?: CompileOptions
  /** Sequence number of the last event folded in. */
  seq: number
  readonly startedAt: number
  readonly envelope: Envelope
  readonly schemaHash: string
  readonly draft?: Draft
  readonly traceparent?: string
  readonly correlationId: string
  readonly threadId?: string
  plan?: Plan
  planVersion: number
  planning?: Planning
  /** A new plan was ordered; it is requested once nothing is in flight. */
  replan?: PlanTrigger
  replans: number
  nodes: Map<string, NodeState>
  /** What may have taken effect of nodes whose item or round is over, by node. */
  leftInDoubt: Map<string, LeftDoubts>
  /** What may have taken effect under earlier plans and was not taken up under the one in force, by node. */
  earlierDoubts: Map<string, LeftDoubts>
  /** Maps and loops under way, and their items and rounds. */
  iterating: Set<string>
  instances: Map<string, Instance>
  /** Of maps and loops that a new plan interrupted: what was done, for the plan may have the same ones again. */
  interrupted: Map<
    string,
    Pick<NodeState, 'node' | 'iterations'> & { readonly nodes: Map<string, NodeState> }
  >
  /** Edges by the node they leave. */
  outgoing: Map<string, PlanEdge[]>
  // Nodes by what has to be done with them, so that deciding costs what there is to do and not the size of the plan.
  ready: Set<string>
  running: Set<string>
  judging: Set<string>
  /** No control edge to it is followed, or a required input has no source: to be skipped. */
  dead: Set<string>
  /** Failed, and no edge leads on. */
  fatal: Set<string>
  /** How many nodes are not settled yet. */
  unsettled: number
  asks: Map<string, Ask>
  openAsks: Set<string>
  /** Side effects that a person has approved, by node: each is one call, of a capability with the inputs shown. */
  approvedCalls: Map<string, ApprovedCall[]>
  /** Asks that were closed without a decision: expired, or taken back. */
  unanswered?: Set<string>
  /** Kinds of the asks that a new plan has withdrawn, by node, until it is in force; and how many ever were. */
  withdrawn: Map<string, AskKind>
  withdrawals: number
  /** The latest feedback, oldest first. */
  feedback: RecordedFeedback[]
  /** How often a rejected value was made again, by node; the answer's under the empty name. */
  reworks: Map<string, number>
  followUps: FollowUp[]
  timers: Map<string, { readonly dueAt: number; readonly purpose: TimerPurpose }>
  policyFired: Map<string, number>
  /** The version of the plan under which a policy has acted on the whole answer: its contract, or its satisfaction. */
  answerJudged?: number
  /** The run has to fail; carried out once nothing is in flight. */
  failing?: Failure
  paused?: { readonly reason: string; readonly policyId?: string }
  budget: {
    reservedCalls: number
    reservedTokens: number
    reservedCostUsd: number
    calls: number
    tokens: number
    /** Of these, what was read. */
    inputTokens: number
    costUsd: number
  }
  /** What each open attempt has reserved, by node. */
  reserved: Map<string, { readonly calls: number; readonly tokens: number; readonly costUsd?: number }>
  /** Hash of the last link of the audit chain. */
  audit: string
  cancel?: { readonly by: string; readonly reason?: string }
  /** What a person said of the whole answer. */
  finalReply?: AskReply
  finished?: EventPayloads['complete']
}

/** What a store keeps beside the journal so that work can be found without folding. */
export interface RunHead {
  readonly runId: string
  readonly tenant: string
  readonly seq: number
  readonly status: RunStatus
  readonly planVersion: number
  /** When somebody should look at the run: now or earlier if it can go on, later for a timer, never if absent. */
  readonly wakeAt?: number
  readonly createdAt: number
  readonly updatedAt: number
  readonly objective: string
  /** The pipeline or template that the run was started from: `pipeline` of the envelope's metadata. */
  readonly pipeline?: string
  readonly schemaHash: string
  readonly threadId?: string
  readonly correlationId: string
  readonly satisfactionScore?: number
  readonly observedSatisfaction?: number
}
