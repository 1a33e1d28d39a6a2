/** The parsed model of a pipeline: agents, imports and steps, with normalised keys and their locations. */

import type { TextRange } from '../../base/errors/issue.ts'
import { isObject, type Json, own } from '../../base/json.ts'
import type { Pointer } from '../../base/pointer.ts'
import type { Condition } from '../../domain/contract.ts'
import type { GivenProcessing } from '../../domain/draft/processing.ts'
import type { AgentLimits, ToolChoice, ToolUse } from '../../domain/loop/agent-settings.ts'
import type { DraftNode, Limits } from '../../domain/plan.ts'
import type { ModelSettings } from '../../domain/settings/model-settings.ts'
import type { JsonSchema } from '../../schema/json-schema.ts'
import type { PipelineIssueCode } from '../text/issue-table.ts'
import type { SourceIssue } from '../text/source.ts'
import type { BuiltinName } from './builtins.ts'

/** Names of the whole context in templates of the original project. */
const roots: ReadonlySet<string> = new Set(['context', 'scratchpad'])

interface Sink {
  /** The context before the first step. */
  readonly given: { readonly [key: string]: Json }
  /** Can the output be a map? */
  readonly isMap: boolean
}

/** Why `sink_to` cannot name this member of the context; shared by the lint rule and the compiler. */
export function wrongSink(key: string, { given, isMap }: Sink): string | undefined {
  if (key.includes('.')) return `"${key}" is a path, and sink_to names one member of the context`
  const value = own(given, key)
  if (value === undefined && roots.has(key)) return `"${key}" is no member of the context, but all of it`
  if (!isObject(value) || isMap) return undefined
  return `the context has a map under "${key}", and this step puts something else in its place`
}

export interface Pipeline {
  readonly name: string
  readonly description?: string
  /** Schema of the input. */
  readonly inputSchema?: JsonSchema
  /** Schema of the answer. Default: the schema of the last step. */
  readonly outputSchema?: JsonSchema
  /** The context before the first step. */
  readonly context: { readonly [key: string]: Json }
  readonly agents: ReadonlyMap<string, Agent>
  readonly imports: ReadonlyMap<string, Import>
  readonly steps: readonly Step[]
  readonly limits?: Limits
  /** Of every model of the file. */
  readonly modelSettings?: ModelSettings
  /** Creates an issue at a location in its file. */
  readonly issue: Complain
}

export type Complain = (at: Pointer, said: Complaint) => SourceIssue

export interface Complaint {
  readonly code: PipelineIssueCode
  readonly message: string
  readonly hint?: string
  /** The exact words that are wrong, if the value contains them. */
  readonly words?: string
  /** The range that is wrong, within the text of the value. */
  readonly part?: { readonly text: string; readonly range: TextRange }
  /** The issue is about the key, not its value. */
  readonly key?: true
}

export interface Agent {
  readonly at: Pointer
  readonly model?: string
  readonly systemPrompt: string
  /** The prompt is in a file, which is read when the pipeline is loaded. */
  readonly promptFile?: { readonly path: string; readonly variables: { readonly [name: string]: Json } }
  readonly outputSchema?: JsonSchema
  readonly processing: StepProcessing
  readonly modelSettings?: ModelSettings
  readonly timeoutMs?: number
  readonly maxRetries?: number
  /** What models read about it where it is a tool. */
  readonly description?: string
  readonly tools?: readonly AgentTool[]
  /** Agents that may continue the conversation. */
  readonly handoffs?: readonly AgentTool[]
  readonly limits?: AgentLimits
  readonly toolChoice?: ToolChoice
}

/** A tool of an agent. */
export interface AgentTool extends Omit<ToolUse, 'capabilityId'> {
  readonly at: Pointer
  readonly worker: Worker
}

/** The `processing` block of the specification; its `schema` is separate. */
export interface StepProcessing {
  readonly said: GivenProcessing
  readonly schema?: JsonSchema
}

export interface Import {
  readonly at: Pointer
  readonly path: string
  /** Set after the file has been loaded. */
  readonly pipeline?: Pipeline
}

/** What executes a step. */
export type Worker =
  | { readonly kind: 'agent'; readonly name: string }
  | { readonly kind: 'import'; readonly name: string }
  | { readonly kind: 'builtin'; readonly name: BuiltinName }
  | { readonly kind: 'capability'; readonly name: string }

export type Step =
  | CallStep
  | ParallelStep
  | ConditionalStep
  | MapStep
  | LoopStep
  | RouterStep
  | HitlStep
  | UnreadableStep

interface Common {
  readonly name: string
  /** Location in its file. */
  readonly at: Pointer
  /** May contain templates. Default: the output of the step before. */
  readonly input?: Json
  /** Merges the members of the output into the context. */
  readonly updatesContext: boolean
  /** Overrides whether the output can be merged into the context, regardless of its schema. */
  readonly mergeableOutput?: boolean
  /** The member of the context that the whole output is written to. */
  readonly sinkTo?: string
  /** One of its keys was rejected, so its output is unknown. */
  readonly isDamaged?: true
}

export interface CallStep extends Common {
  readonly kind: 'step'
  readonly worker: Worker
  readonly params: { readonly [key: string]: Json }
  /** Absent: the step has no `processing` block. */
  readonly processing?: StepProcessing
  readonly modelSettings?: ModelSettings
  readonly outputSchema?: JsonSchema
  /** Members that the output must have; `true`: all that the schema declares. */
  readonly validateFields?: true | readonly string[]
  readonly fallback?: Worker
  readonly maxRetries?: number
  /** Limits, RAO contract and constraints, as fields of draft nodes. */
  readonly node: Pick<
    DraftNode,
    'timeoutMs' | 'onFail' | 'callBudget' | 'tokenBudget' | 'costBudgetUsd' | 'constraints' | 'data'
  >
}

export type Branches = ReadonlyMap<string, readonly Step[]>

/**
 * What the outputs of parallel branches become: a map with a member per branch, the branches laid over each other with the
 * later one above (`overwrite`) or without two that have the same member (`error_on_conflict`), or a list (`list`).
 */
export const mergeStrategies = ['keep_branches', 'overwrite', 'error_on_conflict', 'list'] as const
type MergeStrategy = (typeof mergeStrategies)[number]

export interface ParallelStep extends Common {
  readonly kind: 'parallel'
  readonly branches: Branches
  readonly mergeStrategy: MergeStrategy
}

export interface ConditionalStep extends Common {
  readonly kind: 'conditional'
  /** True takes the branch `true`, any other value the branch `false`. */
  readonly condition?: Condition
  /** A template whose value names the branch. */
  readonly expression?: string
  readonly branches: Branches
  readonly defaultBranch?: string
}

export interface MapStep extends Common {
  readonly kind: 'map'
  readonly over: string
  readonly body: readonly Step[]
  readonly maxItems: number
  readonly concurrency?: number
  readonly onItemFail: 'fail' | 'skip' | 'collect'
}

export interface LoopStep extends Common {
  readonly kind: 'loop'
  readonly body: readonly Step[]
  readonly maxLoops: number
  readonly exitCondition?: Condition
  readonly onMaxLoops: 'fail' | 'accept'
}

export interface RouterStep extends Common {
  readonly kind: 'router'
  readonly agent: string
  readonly branches: Branches
}

export interface HitlStep extends Common {
  readonly kind: 'hitl'
  readonly message: string
  readonly inputSchema: JsonSchema
}

/** Placeholder for a rejected step, so that the steps around and inside it are checked in the same pass. */
export interface UnreadableStep extends Common {
  readonly kind: 'unreadable'
  /** The step, or steps inside it, may write to the context. */
  readonly mayWrite: boolean
  readonly inside: readonly (readonly Step[])[]
}
