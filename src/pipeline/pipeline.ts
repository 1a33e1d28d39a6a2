/** A pipeline as it is meant: agents, imports and steps, with every spelling settled and every place still known. */
import type { Json } from '../base/json.ts'
import type { Pointer } from '../base/pointer.ts'
import type { Condition } from '../domain/contract.ts'
import type { DraftNode, Limits } from '../domain/plan.ts'
import type { GivenProcessing } from '../domain/processing.ts'
import type { JsonSchema } from '../schema/json-schema.ts'
import type { SourceIssue } from './source.ts'

export interface Pipeline {
  readonly name: string
  readonly description?: string
  /** Of what the pipeline is given. */
  readonly inputSchema?: JsonSchema
  /** Of its answer. Default: that of its last step. */
  readonly outputSchema?: JsonSchema
  /** What the context holds before the first step. */
  readonly context: { readonly [key: string]: Json }
  readonly agents: ReadonlyMap<string, Agent>
  readonly imports: ReadonlyMap<string, Import>
  readonly steps: readonly Step[]
  readonly limits?: Limits
  /** Says something of a place in its file. */
  readonly issue: Complain
}

export type Complain = (at: Pointer, said: Complaint) => SourceIssue

export interface Complaint {
  readonly code: string
  readonly message: string
  readonly hint?: string
  /** The very words that are wrong, if they stand in the value. */
  readonly words?: string
  /** The key is meant, not its value. */
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
  readonly timeoutMs?: number
  readonly maxRetries?: number
}

/** The `processing` block of the specification; its `schema` stands apart. */
export interface StepProcessing {
  readonly said: GivenProcessing
  readonly schema?: JsonSchema
}

export interface Import {
  readonly at: Pointer
  readonly path: string
  /** There once the file has been loaded. */
  readonly pipeline?: Pipeline
}

/** Who does the work of a step. */
export type Worker =
  | { readonly kind: 'agent'; readonly name: string }
  | { readonly kind: 'import'; readonly name: string }
  | { readonly kind: 'builtin'; readonly name: BuiltinName }
  | { readonly kind: 'capability'; readonly name: string }

export const builtinNames = ['extract_from_text', 'wrap_dict', 'ensure_object'] as const
export type BuiltinName = (typeof builtinNames)[number]

export type Step = CallStep | ParallelStep | ConditionalStep | MapStep | LoopStep | RouterStep | HitlStep

interface Common {
  readonly name: string
  /** Where it stands in its file. */
  readonly at: Pointer
  /** With templates in it. Default: the output of the step before. */
  readonly input?: Json
  /** The output's members become members of the context. */
  readonly updatesContext: boolean
  /** Whether the output can be merged into the context, whatever its schema says. */
  readonly mergeableOutput?: boolean
  /** The member of the context that the whole output becomes. */
  readonly sinkTo?: string
}

export interface CallStep extends Common {
  readonly kind: 'step'
  readonly worker: Worker
  readonly params: { readonly [key: string]: Json }
  /** Absent: the step has no `processing` block. */
  readonly processing?: StepProcessing
  readonly outputSchema?: JsonSchema
  /** Members that must be in the output; `true`: all that the schema names. */
  readonly validateFields?: true | readonly string[]
  readonly fallback?: Worker
  readonly maxRetries?: number
  /** Limits, RAO contract and constraints, in the words of drafts. */
  readonly node: Pick<
    DraftNode,
    'timeoutMs' | 'onFail' | 'callBudget' | 'tokenBudget' | 'costBudgetUsd' | 'constraints' | 'data'
  >
}

export type Branches = ReadonlyMap<string, readonly Step[]>

export interface ParallelStep extends Common {
  readonly kind: 'parallel'
  readonly branches: Branches
}

export interface ConditionalStep extends Common {
  readonly kind: 'conditional'
  /** True takes the branch `true`, anything else the branch `false`. */
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
