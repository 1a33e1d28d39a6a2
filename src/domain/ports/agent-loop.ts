/** Port from an executor of agents to the engine: the journal of its loop, and its tools. */
import type { Json } from '../../base/json.ts'
import type { JsonSchema } from '../../schema/json-schema.ts'
import type { Capability } from '../capability.ts'
import type { AgentSettings, Approval } from '../loop/agent-settings.ts'
import type { LoopState, ToolAnswer } from '../loop/loop-state.ts'
import type { AgentCall, LoopFact, ToolGrant } from '../loop-facts.ts'
import type { AttemptResult, Usage } from '../output.ts'
import type { ModelSettings } from '../settings/model-settings.ts'

/** A tool that can be called here. */
export interface AgentTool {
  /** As the model calls it. */
  readonly name: string
  readonly capabilityId: string
  readonly kind: string
  readonly description: string
  readonly inputSchema: JsonSchema
  readonly outputSchema: JsonSchema
  readonly approval: Approval
  readonly maxCalls?: number
  /** Most time of one call. */
  readonly timeoutMs?: number
  readonly idempotent: boolean
  readonly sideEffect: boolean
  /** Its results are untrusted content. */
  readonly isUntrusted: boolean
  /** Version of its definition, where its server may change it. */
  readonly version?: string
  /** Its definition is another one than when the loop began. */
  readonly isChanged?: true
  /** It is an agent: its loop is within this one. */
  readonly isAgent?: true
  /** What it calls may have side effects, by itself or through tools of its own. */
  readonly mayAct?: true
  /** Its call hands the conversation off to the capability. */
  readonly isHandoff?: true
}

export interface ToolCall {
  readonly tool: Pick<AgentTool, 'capabilityId' | 'outputSchema' | 'timeoutMs'>
  /** Of an agent: its place in this loop, what it did so far, and whether its arguments come from untrusted content. */
  readonly agent?: {
    readonly at: AgentCall
    readonly state: LoopState | undefined
    readonly isTainted: boolean
    readonly onUsage: (usage: Usage) => void
  }
  readonly inputs: Json
  readonly idempotencyKey: string
  /** It was called under this key before, and may have taken effect. */
  readonly isRepeated: boolean
  /** Answers to its questions, oldest first. */
  readonly answers?: readonly ToolAnswer[]
  /** What it may use at most; absent in runs without limits. */
  readonly budget?: CallBudget
}

export interface CallBudget {
  readonly calls: number
  readonly tokens?: number
  readonly costUsd?: number
}

/** An agent that continues the conversation of another. */
export interface HandedOff {
  readonly capability: Capability
  /** Settings of its model calls: its own, those of the envelope and of the node. */
  readonly modelSettings?: ModelSettings
  readonly toolChoice?: AgentSettings['toolChoice']
  readonly tools: readonly AgentTool[]
  readonly missing: readonly string[]
}

export interface AgentLoop {
  /** The facts of earlier attempts; a copy of its own. */
  readonly state: LoopState | undefined
  readonly limits: AgentSettings['limits']
  /** Which tool the model must call first. Default `auto`. */
  readonly toolChoice?: AgentSettings['toolChoice']
  /** From when on no tool is called any more: a condition over what the loop has done. */
  readonly stopWhen?: AgentSettings['stopWhen']
  readonly tools: readonly AgentTool[]
  /** Ids of capabilities that this process lacks. */
  readonly missing: readonly string[]
  /** The agent that a hand-off names, with its tools; nothing if this process lacks it. */
  handOff(capabilityId: string): HandedOff | undefined
  /** The caller's policy lets side effects happen without an approval. */
  readonly mayActUnasked: boolean
  /** The run has limits: tools share what is reserved for the attempt. */
  readonly isLimited: boolean
  /** Tools that people have allowed for the rest of the run. */
  readonly grants: readonly ToolGrant[]
  /** The run has read untrusted content that no person has approved (DECISIONS 31). */
  readonly isTainted: boolean
  /** Appends facts to the journal; resolves once they are there, and rejects if the attempt is over. */
  record(facts: readonly LoopFact[]): Promise<void>
  /** Makes a call whose start is in the journal, and validates the result against the tool's contract. */
  callTool(call: ToolCall): Promise<AttemptResult>
}
