/**
 * The facts of an agent's loop: turns of its model and calls of its tools, within attempts of its node. The conversation
 * and what is left to do follow from them alone, so that another process can continue.
 */
import type { Issue } from '../base/errors/issue.ts'
import type { Json } from '../base/json.ts'
import type { JsonSchema } from '../schema/json-schema.ts'
import type { FileReference } from './content/file-value.ts'
import type { AnswerPart, AttemptResult, Outcome, RepairNote, StructuredOutcome, Usage } from './output.ts'
import type { ModelSettings } from './settings/model-settings.ts'

/** A tool as it was when the loop began: a change of its capability does not change a loop under way. */
export interface PinnedTool {
  /** As the model calls it. */
  readonly name: string
  readonly capabilityId: string
  readonly description: string
  readonly inputSchema: JsonSchema
  readonly outputSchema: JsonSchema
  /** Of tools of MCP servers, which may change them at any time: a call of a changed one is refused. */
  readonly version?: string
  /** Its call hands the conversation off to the capability, an agent. */
  readonly isHandoff?: true
}

/**
 * Why the tools are off in a turn: the answer could not be read and is requested in its format (`answer`), the limit of
 * turns leaves no other (`turns`), the same call was made again and again (`repeated`), or the agent's own condition holds
 * (`stopWhen`).
 */
export type FinalReason = 'answer' | 'turns' | 'repeated' | 'stopWhen'

/** A place in the loop: turn and call count from 1. */
export interface CallRef {
  readonly turn: number
  readonly call: number
  /** The calls of agents that it is within, outermost first; absent in the loop of the node itself. */
  readonly within?: readonly AgentCall[]
}

/** The call of an agent that is a tool: what it does is a loop within the loop of its caller. */
export interface AgentCall {
  readonly turn: number
  readonly call: number
  readonly tool: string
}

/**
 * Why a call needs a decision: the approval of its tool (`approval`), a side effect after untrusted content (`untrusted`), an
 * earlier call that may have taken effect (`doubt`), or a tool that is a person (`person`).
 */
export type AskCause = 'approval' | 'untrusted' | 'doubt' | 'person'

/** Whether an approval may be remembered: a call in doubt and work of a person are decided one by one. */
export function isGrantable(cause: AskCause): boolean {
  return cause === 'approval' || cause === 'untrusted'
}

/** How long an approval of a tool is remembered. */
export type GrantScope = 'run' | 'thread'

/** An approval that counts for later calls of a tool, too: for the causes that the person was shown. */
export interface ToolGrant {
  readonly capabilityId: string
  readonly causes: readonly AskCause[]
  /** Absent: it counts for the run. */
  readonly scope?: 'thread'
  /** The ask that was answered with it. */
  readonly requestId: string
  readonly by: string
}

/** A call that the model wants, with what is done about it. */
export interface ProposedCall {
  readonly call: number
  /** The provider's id, which the result names. */
  readonly toolCallId: string
  readonly tool: string
  /** Absent: the model called a tool that does not exist. */
  readonly capabilityId?: string
  /** The arguments as read; absent if they could not be. */
  readonly input?: Json
  readonly repairs?: readonly RepairNote[]
  /** `run`: it may be made; `ask`: a person decides first; `refuse`: it is not made, and the model reads why. */
  readonly verdict: 'run' | 'ask' | 'refuse'
  /** Why a person is asked; or what the model reads of a refused call. */
  readonly reason?: string
  /** Why a person is asked, or would be without a grant. */
  readonly causes?: readonly AskCause[]
  /** The asks whose replies allow it without a further one. */
  readonly grants?: readonly string[]
}

export interface TurnStart {
  readonly attempt: number
  readonly turn: number
  /** The calls of agents that it is within, outermost first. */
  readonly within?: readonly AgentCall[]
  readonly model: string
  /** Settings of the call. */
  readonly settings?: ModelSettings
  /** SHA-256 of the request. */
  readonly requestHash: string
  /** What keys of tool calls are derived from: the key of the attempt that began the loop. */
  readonly lineage: string
  /** After a hand-off: the agent that continues the conversation, with its instructions and tools. */
  readonly agent?: string
  /** With the first turn: hash of the inputs. With that of an agent: instructions, tools. */
  readonly inputsHash?: string
  readonly system?: string
  readonly tools?: readonly PinnedTool[]
  /** What is said before the turn, besides results: the task, feedback, the request for an answer. */
  readonly user?: string
  /** Of the first turn: files that are sent with it, by reference to the inputs of the node. */
  readonly files?: readonly FileReference[]
  readonly final?: FinalReason
  /** The answer reports a confidence, and may be suppressed: texts that may quote it are withheld from clients. */
  readonly rao?: true
}

export interface TurnEnd {
  readonly attempt: number
  readonly turn: number
  readonly within?: readonly AgentCall[]
  /** What the model answered, as it came. */
  readonly parts: readonly AnswerPart[]
  readonly calls: readonly ProposedCall[]
  readonly finish: 'stop' | 'length' | 'cut'
  /** In the provider's own word. */
  readonly rawFinish?: string
  /** How its format was requested; the answer is read accordingly. */
  readonly structured?: StructuredOutcome
  /** What of the request the provider did not do as it was asked. */
  readonly warnings?: readonly { readonly setting: string; readonly message: string }[]
  /** As in the start of the turn. */
  readonly rao?: true
  readonly usage: Usage
}

export interface ToolStart extends CallRef {
  readonly attempt: number
  readonly tool: string
  readonly capabilityId: string
  /** The same whenever this call is repeated. */
  readonly idempotencyKey: string
  readonly idempotent: boolean
  readonly sideEffect?: true
  readonly inputs: Json
  readonly repairs?: readonly RepairNote[]
  /** Who allowed it, or wrote its arguments. */
  readonly person?: string
}

export interface ToolEnd extends CallRef {
  readonly attempt: number
  readonly tool: string
  readonly outcome: Outcome
  /** What the model reads: the value as JSON, or why there is none. */
  readonly content: string
  /** How many characters were left out of the middle of the content. */
  readonly cut?: number
  readonly issues: readonly Issue[]
  readonly usage: Usage
  /** The content is untrusted: what has side effects needs an approval from now on. */
  readonly untrusted?: true
  /** Who gave the result, or rejected the call. */
  readonly person?: string
  /** The tool asks first, and has done nothing: the call is open, and is made again with the answer of a person. */
  readonly question?: NonNullable<AttemptResult['question']>
}

/** What the model of an agent has written of a turn so far: unvalidated, and never stored. */
export interface TurnPartial {
  readonly turn: number
  readonly text: string
  /** The calls it writes, with their arguments as far as they can be read. */
  readonly calls: readonly { readonly tool: string; readonly arguments: unknown }[]
}

export type LoopFact =
  | { readonly type: 'turn_start'; readonly payload: TurnStart }
  | { readonly type: 'turn_end'; readonly payload: TurnEnd }
  | { readonly type: 'tool_start'; readonly payload: ToolStart }
  | { readonly type: 'tool_end'; readonly payload: ToolEnd }
