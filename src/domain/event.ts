/**
 * The events of a run, with the names that journal, stream and console share. Events are immutable; a new meaning is a
 * new field with an upcaster (`event/numbered.ts`) or a new type.
 */

import type { Issue } from '../base/errors/issue.ts'
import type { Json } from '../base/json.ts'
import type { Ask, Resolution } from './ask.ts'
import type { AttemptRef } from './attempt/call-key.ts'
import type { FailureCode } from './attempt/failure-code.ts'
import type { NodeKind } from './capability.ts'
import type { Diagnostic, DiagnosticBundle } from './diagnostic.ts'
import type { Envelope } from './envelope.ts'
import type { Feedback, RejectAction } from './feedback.ts'
import type { GrantScope, ToolEnd, ToolStart, TurnEnd, TurnStart } from './loop-facts.ts'
import type { AttemptResult, Outcome, Output, Usage } from './output.ts'
import type { NodeSummary } from './plan/node-summary.ts'
import type { Draft, FacetProvenance, Plan } from './plan.ts'
import type { Action, TriggerKind } from './policy.ts'
import type { RaoDecision } from './rao/rao-contract.ts'
import type { ModelSettings } from './settings/model-settings.ts'
import type { NodeStatus, TerminalStatus } from './status.ts'
import type { Assignment, AssignmentChange } from './task/assignment.ts'
import type { ThreadContext } from './thread/thread-context.ts'

/** What a timer is for. */
export type TimerPurpose =
  /** Try again, with the capability at this place of `[capabilityId, ...alternates]`. */
  | { readonly kind: 'retry'; readonly nodeId: string; readonly candidate: number }
  | { readonly kind: 'ask'; readonly requestId: string }
  | { readonly kind: 'deadline' }
  | { readonly kind: 'policy'; readonly policyId: string }

/** Why a new plan is made. */
export interface PlanTrigger {
  readonly policyId?: string
  /** The ask whose rejection ordered it. */
  readonly requestId?: string
  readonly rationale?: string
  readonly nodeId?: string
  /** A person has approved the output of the node: it is kept. */
  readonly approved?: true
  /** Nodes whose outputs were rejected. */
  readonly nodeIds?: readonly string[]
}

/** Why a run ended without an answer, or a node without an output. */
export interface Failure {
  /** Stable code, `area/name`. */
  readonly code: FailureCode
  readonly message: string
  readonly issues?: readonly Issue[]
  readonly details?: { readonly [key: string]: Json }
}

/** A call that may or may not have taken effect. */
export interface CallInDoubt extends AttemptRef {
  readonly capabilityId: string
  readonly idempotencyKey: string
  readonly outcome: Outcome
}

/** Where one part of the answer comes from. */
export interface Provenance {
  readonly pointer: string
  readonly nodeId?: string
  readonly capabilityId?: string
  readonly attempt?: number
  readonly facet?: string
  readonly repairs?: readonly { readonly stage: string; readonly rule: string; readonly pointer?: string }[]
  /** A text stands in for the answer of its node. */
  readonly degraded?: true
  /** Who approved or wrote it at its node; with the pointer of the whole, who wrote the answer at the end. */
  readonly person?: string
  /** Who approved the whole answer at the end. */
  readonly approvedBy?: string
}

/** One link of the audit chain: `hash` = SHA-256 of `prev` and the row (`decide/ask/audit.ts`). */
export interface AuditLink {
  readonly prev: string
  /** Hash of what was shown, or of what a person gave instead. */
  readonly subjectHash: string
  readonly hash: string
}

/** A capability as it was when a plan was asked for. */
export interface ConsideredCapability {
  readonly id: string
  readonly name: string
  /** `unknown`: a draft or a policy names it, but it is not registered. */
  readonly status: 'active' | 'inactive' | 'unknown'
}

/** How a node, an item or a round failed. */
export type FailureOutcome = Outcome | 'suppressed' | 'rejected' | 'input_invalid'

export interface EventPayloads {
  start: {
    readonly envelope: Envelope
    readonly threadId?: string
    /** What the run knows of the earlier runs of its thread. */
    readonly thread?: ThreadContext
    readonly correlationId: string
    readonly schemaHash: string
    /** Whose run it is; absent: the tenant `default`. */
    readonly tenant?: string
    /** A plan written by hand; without it a planner drafts. */
    readonly draft?: Draft
    /** What the envelope said in an older way, and how to say it now; it is kept as it is meant. */
    readonly warnings?: readonly Issue[]
    /** The trace that it began in (W3C), so that parts of the run in other processes can name it. */
    readonly traceparent?: string
  }
  plan_requested: {
    readonly attempt: number
    readonly phase: 'initial' | 'replan'
    /** Ids of the runtime policies. */
    readonly policies: readonly string[]
    /** What is said about planning, by its keys (`topology.variantCount`), and what each runtime policy is. */
    readonly policyMetadata?: {
      readonly planner: readonly string[]
      readonly runtime: readonly {
        readonly id: string
        readonly enabled: boolean
        /** `onAnswer` of a RAO policy. */
        readonly trigger: TriggerKind | 'onAnswer'
        readonly action: string
      }[]
    }
    readonly variantCount?: number
    /** The considered capabilities, best first; `crcs` has the total. */
    readonly capabilities: readonly ConsideredCapability[]
    readonly crcs?: {
      /** Active in the catalog. */
      readonly total: number
      /** On a way from what is given to what is wanted, or named by the draft at hand. */
      readonly considered: number
      /** Most that are listed. */
      readonly rowCap: number
      /** Required by the caller, and on no way to the contract. */
      readonly missing: readonly string[]
    }
    readonly trigger?: PlanTrigger
  }
  plan_rejected: {
    readonly attempt: number
    readonly diagnostics: DiagnosticBundle
    /** Why no further draft is requested, if so. */
    readonly final?: string
    /** What drafting has cost. */
    readonly usage?: Usage
  }
  plan_generated: {
    /** Absent when a run is resumed that was paused before it had one. */
    readonly plan: Plan | null
    readonly planVersion: number
    /** The nodes in short, as clients show them. */
    readonly nodes?: readonly NodeSummary[]
    readonly satisfactionScore: number
    readonly diagnostics: DiagnosticBundle
    /** What drafting has cost. */
    readonly usage?: Usage
    readonly metadata: { readonly resumed?: true; readonly [key: string]: Json | undefined }
  }
  plan_updated: {
    readonly previousVersion: number
    readonly version: number
    readonly nodes: readonly { readonly id: string; readonly status: NodeStatus }[]
    readonly trigger: PlanTrigger
  }
  node_start: {
    readonly capabilityId?: string
    readonly label?: string
    readonly derived?: boolean
    readonly facetProvenance?: FacetProvenance
    /** What kind of node begins, where the plan does not list it: a node of an item or a round. */
    readonly kind?: NodeKind
    /** Of a map, how many items its list has; of a loop, how many rounds it may go. */
    readonly iterations?: number
  }
  /** The node of the event is the instance: `node[3]`, `node#2`. */
  iteration_start: {
    /** The map or loop. */
    readonly of: string
    /** Index of the item, or number of the round. */
    readonly index: number
  }
  iteration_end: {
    readonly of: string
    readonly index: number
    /** `cancelled`: the map or loop itself has failed. */
    readonly status: 'completed' | 'failed' | 'cancelled'
    readonly output?: Json
    readonly outcome?: FailureOutcome
    readonly error?: Failure
  }
  attempt_start: {
    readonly attempt: number
    readonly capabilityId: string
    /** Travels with the call: the same for a repeated call of one logical attempt. */
    readonly idempotencyKey: string
    /** Whether it may simply be repeated when its outcome is unknown. */
    readonly idempotent: boolean
    /** It changes the world outside: whatever it answers, the next call is the same one unless nothing was applied. */
    readonly sideEffect?: true
    readonly inputs: Json
    readonly deadlineAt?: number
    /** Settings of its model calls: of the capability, the envelope and the node, put together. */
    readonly modelSettings?: ModelSettings
    /** The call of an earlier plan that this one repeats, under its key. */
    readonly continues?: AttemptRef
  }
  /** An agent has taken the call and calls back later: from now on the attempt waits, and no process makes the call again. */
  attempt_accepted: {
    readonly attempt: number
    /** Who accepted it: the capability that was called. */
    readonly agent: string
    /** How long its answer is waited for, in milliseconds since 1970. */
    readonly deadlineAt: number
  }
  /** Facts of an agent's loop, within an attempt of its node. */
  turn_start: TurnStart
  turn_end: TurnEnd
  tool_start: ToolStart
  tool_end: ToolEnd
  attempt_end: { readonly attempt: number } & AttemptResult
  /** A result that came after the attempt had ended as unknown; it closes the ask about it (`hitl_resolved`, `settled`). */
  attempt_settled: { readonly attempt: number } & AttemptResult
  budget_reserved: {
    readonly attempt: number
    readonly calls: number
    readonly tokens: number
    /** Where the run limits cost. */
    readonly costUsd?: number
  }
  budget_settled: { readonly attempt: number; readonly calls: number; readonly tokens: number }
  /** What a RAO contract made of an answer, decided by the engine. */
  rao_decision: RaoDecision & { readonly attempt: number }
  node_complete: {
    readonly output: Output
    readonly attempt: number
    readonly capabilityId?: string
    /** Which targets a routing node chose. */
    readonly chosen?: readonly string[]
    readonly person?: string
    readonly facetProvenance?: FacetProvenance
  }
  node_error: {
    readonly attempt: number
    readonly outcome: FailureOutcome
    readonly error: Failure
  }
  node_skipped: { readonly reason: string }
  validation_error: { readonly scope: string; readonly errors: readonly Issue[] }
  policy_triggered: {
    readonly policyId: string
    readonly trigger: TriggerKind | 'follow_up'
    readonly actionDetails: Action
    /** The older name of the action, for clients that know it. */
    readonly action: string
    readonly by?: string
    /** The ask that this follows. */
    readonly requestId?: string
  }
  hitl_request: Ask & {
    readonly audit: AuditLink
    /** The call of an earlier plan that it asks about. */
    readonly continues?: AttemptRef
  }
  /** One of several people has approved; the ask stays open for the others. */
  hitl_approval: {
    readonly requestId: string
    readonly valueHash: string
    readonly by: string
    readonly note?: string
    readonly audit: AuditLink
  }
  /** A task has another holder or assignee. */
  hitl_assigned: {
    readonly requestId: string
    readonly change: AssignmentChange
    /** Who; `system` if the time of a person was over. */
    readonly by: string
    readonly note?: string
    /** The assignment from now on. */
    readonly assignment: Assignment
    /** When the task is due from now on, in milliseconds since 1970. */
    readonly expiresAt: number
    readonly audit: AuditLink
  }
  hitl_resolved: {
    readonly requestId: string
    readonly decision: Resolution
    readonly value?: Json
    readonly valueHash: string
    readonly by: string
    readonly note?: string
    /** What the reply wants after its rejection. */
    readonly rejectAction?: RejectAction
    /** The approval counts for later calls of the tool, too. */
    readonly grant?: GrantScope
    readonly audit: AuditLink
  }
  feedback_recorded: Feedback
  nodes_reopened: {
    /** The ask whose rejection this follows. */
    readonly requestId: string
    /** Nodes that run again with feedback. */
    readonly nodes: readonly string[]
    /** Nodes that run again because they come after these. */
    readonly downstream: readonly string[]
    /** How often the same has been sent back, from 1. */
    readonly round: number
  }
  timer_set: { readonly timerId: string; readonly dueAt: number; readonly purpose: TimerPurpose }
  timer_fired: { readonly timerId: string }
  /** A living process found its lease gone while it made this call. */
  lease_lost: { readonly attempt: number; readonly owner: string }
  /** Nothing more is called until an operator resumes the run. */
  quarantined: { readonly reason: string; readonly attempt: number }
  cancel_requested: { readonly by: string; readonly reason?: string }
  log: { readonly event: string; readonly payload?: { readonly [key: string]: Json } }
  complete: {
    readonly status: TerminalStatus
    readonly output?: Json
    readonly error?: Failure
    readonly provenance?: readonly Provenance[]
    /** The satisfaction score computed anew from what really came out. */
    readonly observedSatisfaction?: number
    /** Nodes whose text stands in for an answer; absent where there are none. */
    readonly degraded?: readonly string[]
    /** Calls of earlier plans that may have changed something, and that no node of the last plan made again. */
    readonly inDoubt?: readonly CallInDoubt[]
    /** Of the proof of the last plan; absent in journals that were written before it was recorded here. */
    readonly warnings?: readonly Diagnostic[]
    readonly usage?: Usage
  }
}

export type EventType = keyof EventPayloads

interface EventOf<T extends EventType> {
  readonly type: T
  /** Version of this type's payload. */
  readonly version: number
  /** Milliseconds since 1970, by the clock of the process that appended it. */
  readonly at: number
  readonly planVersion: number
  readonly nodeId?: string
  readonly message?: string
  readonly payload: EventPayloads[T]
}

/** A fact that is not in the journal yet. */
export type NewEvent<T extends EventType = EventType> = { [K in T]: EventOf<K> }[T]

/** A fact of the journal: `seq` counts from 1 without gaps. */
export type JournalEvent<T extends EventType = EventType> = NewEvent<T> & {
  readonly runId: string
  readonly seq: number
}
