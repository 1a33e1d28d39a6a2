/** The state of a run: what folding its journal gives. Only `fold.ts` changes it. */

import type { Json } from '../base/json.ts'
import type { Ask, Decision } from './ask.ts'
import type { DiagnosticBundle } from './diagnostic.ts'
import type { Envelope } from './envelope.ts'
import type { EventPayloads, Failure, TimerPurpose } from './event.ts'
import type { AttemptResult, Output } from './output.ts'
import type { Draft, Plan, PlanNode } from './plan.ts'
import type { NodeStatus, RunStatus } from './status.ts'

export interface AttemptState {
  readonly attempt: number
  readonly capabilityId: string
  readonly idempotencyKey: string
  readonly inputs: Json
  readonly startedAt: number
  readonly deadlineAt?: number
  readonly result?: AttemptResult
  readonly endedAt?: number
}

export interface NodeState {
  readonly node: PlanNode
  status: NodeStatus
  /** Incoming edges not settled yet, and how many of the settled ones are followed. */
  open: number
  live: number
  started: boolean
  /** The last attempt; earlier ones are in the journal. */
  attempt?: AttemptState
  attempts: number
  /** Attempts with the capability in use, and which of `[capabilityId, ...alternates]` that is. */
  tries: number
  candidate: number
  calls: number
  output?: Output
  completed?: EventPayloads['node_complete']
  error?: Failure
  /** Answers of people to its questions, oldest first; part of the next attempt's context. */
  clarifications: string[]
  /** A person approved its side effect, or a repetition after a failure. */
  approved?: boolean
}

export interface AskState extends Ask {
  reply?: {
    readonly decision: Decision | 'expired'
    readonly value?: Json
    readonly by: string
    readonly note?: string
  }
  /** Its consequence is in the journal. */
  applied?: boolean
}

export interface RunState {
  readonly runId: string
  /** Sequence number of the last event folded in. */
  seq: number
  startedAt: number
  /** Time of the last event. */
  at: number
  envelope: Envelope
  draft?: Draft
  correlationId: string
  threadId?: string
  plan?: Plan
  planVersion: number
  /** Set from `plan_requested` until a plan is generated or planning is given up. */
  planning?: { attempt: number; readonly phase: 'initial' | 'replan'; readonly trigger: PlanTrigger }
  /** A policy asked for a new plan; requested once nothing is in flight. */
  replan?: PlanTrigger
  rejected?: DiagnosticBundle
  replans: number
  nodes: Map<string, NodeState>
  /** Nodes by what has to be done with them, so that deciding costs what there is to do and not the size of the plan. */
  ready: Set<string>
  judging: Set<string>
  running: Set<string>
  /** Nodes not settled yet. */
  unsettled: number
  asks: Map<string, AskState>
  openAsks: Set<string>
  /** Replied, consequence not yet in the journal. */
  repliedAsks: Set<string>
  timers: Map<string, { readonly dueAt: number; readonly purpose: TimerPurpose }>
  policyFired: Map<string, number>
  /** An action that a policy ordered and that is not carried out yet. */
  ordered?: { readonly type: 'fail' | 'pause'; readonly message: string; readonly policyId: string }
  paused?: { readonly reason: string; readonly policyId?: string }
  budget: { reservedCalls: number; reservedTokens: number; calls: number; tokens: number; costUsd: number }
  /** Hash of the last link of the audit chain. */
  audit: string
  cancel?: { readonly by: string; readonly reason?: string }
  /** The answer, approved by a person, or absent until then. */
  finalApproval?: { readonly decision: Decision | 'expired'; readonly value?: Json; readonly by: string }
  finished?: EventPayloads['complete']
}

export interface PlanTrigger {
  readonly policyId?: string
  readonly rationale?: string
  readonly nodeId?: string
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
  readonly schemaHash: string
  readonly threadId?: string
  readonly correlationId: string
  readonly satisfactionScore?: number
  readonly observedSatisfaction?: number
}
