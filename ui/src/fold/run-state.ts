/** What the console shows of a run: the result of folding its events. */

import type { RunEvent } from 'proviso/client'

export type NodeStatus =
  | 'pending'
  | 'running'
  | 'waiting'
  | 'retrying'
  | 'completed'
  | 'failed'
  /** Interrupted because another node failed, or the run was cancelled. */
  | 'cancelled'
  | 'skipped'

export interface Usage {
  readonly calls: number
  readonly inputTokens?: number | undefined
  readonly outputTokens?: number | undefined
  readonly costUsd?: number | undefined
}

export interface RepairNote {
  readonly stage: string
  readonly rule: string
  readonly pointer?: string | undefined
  /** Range of the model's text, and what it was changed to. */
  readonly range?: readonly [number, number] | undefined
  readonly after?: string | undefined
}

export interface IssueView {
  readonly code: string
  readonly message: string
  readonly hint?: string | undefined
  readonly at?: { readonly pointer?: string }
  readonly pointer?: string | undefined
}

export interface OutputView {
  readonly value?: unknown | undefined
  readonly raw?: string | undefined
  readonly repairs?: readonly RepairNote[] | undefined
  readonly confidence?: number | undefined
  readonly reasoning?: string | undefined
  readonly degraded?: true | undefined
  readonly withheld?: true | undefined
}

export interface ToolCallView {
  readonly call: number
  readonly tool: string
  readonly verdict?: string | undefined
  readonly reason?: string | undefined
  readonly input?: unknown | undefined
  startedAt?: string | undefined
  endedAt?: string | undefined
  outcome?: string | undefined
  content?: string | undefined
  person?: string | undefined
}

export interface TurnView {
  readonly turn: number
  /** The agents that lead to the one whose turn it is; empty for that of the node. */
  readonly within: string
  /** The agent that continues from here, after a hand-off. */
  readonly agent?: string | undefined
  readonly model: string
  readonly startedAt: string
  readonly system?: string | undefined
  readonly user?: string | undefined
  endedAt?: string | undefined
  texts: string[]
  calls: ToolCallView[]
  usage?: Usage | undefined
}

export interface AttemptView {
  readonly attempt: number
  readonly planVersion: number
  readonly capabilityId: string
  readonly inputs: unknown
  readonly startedAt: string
  endedAt?: string | undefined
  outcome?: string | undefined
  output?: OutputView | undefined
  raw?: string | undefined
  issues: readonly IssueView[]
  usage?: Usage | undefined
  model?: string | undefined
  /** Prompts as sent, one per call. */
  prompts?: readonly { readonly step: string; readonly system: string; readonly prompt: string }[] | undefined
  turns: TurnView[]
}

export interface PlanNodeView {
  readonly id: string
  readonly kind?: string | undefined
  readonly label?: string | undefined
  readonly capabilityId?: string | undefined
  readonly contracts?: { readonly input?: unknown; readonly output?: unknown }
  readonly inputs?: { readonly [name: string]: unknown }
  readonly instructions?: string | undefined
  readonly rationale?: string | undefined
  readonly provides?: readonly string[] | undefined
  readonly enforces?: readonly string[] | undefined
  readonly postConditions?: readonly unknown[] | undefined
  readonly guards?: readonly unknown[] | undefined
  readonly routing?: {
    readonly routes: readonly {
      readonly to: string | readonly string[]
      readonly label?: string
      readonly condition?: unknown
    }[]
    readonly elseTo?: string | readonly string[] | undefined
  }
  readonly facetProvenance?: {
    readonly input: readonly { readonly facet: string; readonly pointer: string }[]
    readonly output: readonly { readonly facet: string; readonly pointer: string }[]
  }
  readonly data?: { readonly [key: string]: unknown }
  readonly rao?: readonly unknown[] | undefined
}

export interface PlanEdgeView {
  readonly from: string
  readonly to: string
  readonly when: 'pass' | 'fail' | 'always'
  readonly kind: 'control' | 'data'
  /** The node that `from` itself leads to, if hidden nodes lie between. */
  readonly via?: string
}

export interface Diagnostic {
  readonly severity: string
  readonly status: string
  readonly constraint?: string | undefined
  readonly nodeId?: string | undefined
  readonly capabilityId?: string | undefined
  readonly cause: string
  readonly suggestion?: string | undefined
  readonly details?: { readonly [key: string]: unknown }
}

export interface Diagnostics {
  readonly status: string
  readonly satisfactionScore: number
  readonly failures: readonly Diagnostic[]
  readonly warnings: readonly Diagnostic[]
  readonly infos: readonly Diagnostic[]
}

export interface PlanView {
  readonly version: number
  readonly at: string
  readonly nodes: readonly PlanNodeView[]
  readonly edges: readonly PlanEdgeView[]
  readonly output?: unknown | undefined
  readonly diagnostics?: Diagnostics | undefined
  readonly satisfactionScore?: number | undefined
  /** Why it replaced the plan before. */
  readonly trigger?: { readonly rationale?: string; readonly policyId?: string; readonly requestId?: string }
}

export interface NodeView {
  readonly id: string
  /** The map or loop of an item or a round. */
  readonly parent?: string | undefined
  /** A compiler inserted it: shown only if it fails. */
  isInternal?: boolean | undefined
  status: NodeStatus
  kind?: string | undefined
  label?: string | undefined
  capabilityId?: string | undefined
  planVersion: number
  startedAt?: string | undefined
  endedAt?: string | undefined
  attempts: AttemptView[]
  output?: OutputView | undefined
  person?: string | undefined
  chosen?: readonly string[] | undefined
  message?: string | undefined
  error?: unknown | undefined
  retryAt?: number | undefined
  rao: { readonly [key: string]: unknown }[]
  /** What is being written now; never part of the journal. */
  partial?: unknown | undefined
  /** What the model of an agent has written of its turn, before it writes the answer. */
  partialText?: string | undefined
}

export interface AskView {
  readonly requestId: string
  readonly kind: string
  readonly nodeId?: string | undefined
  readonly question: string
  readonly value: unknown
  readonly openedAt: string
  readonly expiresAt: string
  resolved?:
    | {
        readonly decision: string
        readonly by: string
        readonly note?: string | undefined
        readonly at: string
      }
    | undefined
}

export interface ProvenanceView {
  readonly pointer: string
  readonly nodeId?: string | undefined
  readonly capabilityId?: string | undefined
  readonly facet?: string | undefined
  readonly person?: string | undefined
  readonly approvedBy?: string | undefined
  readonly degraded?: true | undefined
  readonly repairs?: readonly RepairNote[] | undefined
}

export interface TimelineEntry {
  readonly id: number
  readonly at: string
  readonly type: RunEvent['type']
  readonly nodeId?: string | undefined
  readonly text: string
  /** Minor entries are folded away unless they are asked for. */
  readonly minor: boolean
}

export interface RunState {
  runId: string
  status: 'unknown' | 'running' | 'waiting' | 'paused' | 'completed' | 'failed' | 'cancelled'
  objective: string
  envelope?: { readonly [key: string]: unknown }
  startedAt?: string | undefined
  endedAt?: string | undefined
  /** Sequence number of the last event. */
  events: number
  lastAt?: string | undefined
  planVersion: number
  plans: PlanView[]
  rejected: {
    readonly at: string
    readonly diagnostics: Diagnostics
    readonly message?: string | undefined
  }[]
  nodes: Map<string, NodeView>
  asks: Map<string, AskView>
  policies: {
    readonly at: string
    readonly policyId: string
    readonly action: string
    readonly trigger: string
  }[]
  output?: unknown | undefined
  error?: { readonly message: string; readonly details?: { readonly [key: string]: unknown } }
  provenance: readonly ProvenanceView[]
  usage: Usage
  timeline: TimelineEntry[]
  pauseReason?: string | undefined
}

export function emptyRun(runId = ''): RunState {
  return {
    runId,
    status: 'unknown',
    objective: '',
    events: 0,
    planVersion: 0,
    plans: [],
    rejected: [],
    nodes: new Map(),
    asks: new Map(),
    policies: [],
    provenance: [],
    usage: { calls: 0 },
    timeline: [],
  }
}
