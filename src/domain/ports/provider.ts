/** Port to models: one call, text in, text out. The reader parses the text. With tools, the answer may be calls of them. */

import type { RetryableFailure } from '../../base/time/retry.ts'
import type { JsonSchema } from '../../schema/json-schema.ts'
import type { TakenFile } from '../content/file-value.ts'
import type { ToolChoice } from '../loop/agent-settings.ts'
import type { AnswerPart, StructuredOutcome, Usage } from '../output.ts'
import type { ModelSettings } from '../settings/model-settings.ts'
import type { Trace } from './trace.ts'

export type { ToolChoice } from '../loop/agent-settings.ts'
export type { AnswerPart, ProviderMetadata, StructuredOutcome } from '../output.ts'

/** How a node requests structured output; each provider maps it to what it supports. */
export type StructuredIntent = 'off' | 'auto' | 'openai_json' | 'outlines' | 'xgrammar'

/** What one tool call brought, as the model reads it. */
export interface ToolResult {
  readonly toolCallId: string
  readonly toolName: string
  readonly text: string
  readonly isError: boolean
}

/** A message of a conversation with tools. The results of a turn are one message, in the order of its calls. */
export type ModelMessage =
  | { readonly role: 'user'; readonly text: string }
  | { readonly role: 'assistant'; readonly parts: readonly AnswerPart[] }
  | { readonly role: 'tool'; readonly results: readonly ToolResult[] }

/** A piece of an answer that is being written. */
export type AnswerDelta =
  | { readonly type: 'text'; readonly delta: string }
  | { readonly type: 'reasoning'; readonly delta: string }
  | { readonly type: 'tool-call'; readonly toolCallId: string; readonly toolName: string }
  | { readonly type: 'tool-input'; readonly toolCallId: string; readonly delta: string }

/** A tool that the model may call. */
export interface ModelTool {
  /** Letters, digits, `_` and `-`, at most 64. */
  readonly name: string
  readonly description: string
  readonly inputSchema: JsonSchema
}

export interface ModelRequest {
  /** Without the provider's name. */
  readonly model: string
  readonly system: string
  readonly prompt: string
  /** The conversation; then `prompt` is not sent. Only for providers with `tools`. */
  readonly messages?: readonly ModelMessage[]
  /** Images and other files, sent with the first message of the user; its words name them by their numbers, from 1. */
  readonly files?: readonly TakenFile[]
  readonly tools?: readonly ModelTool[]
  /** `none`: no tool is to be called in this turn; `required`: one at least; `{ tool }`: that one, by its name. Default `auto`. */
  readonly toolChoice?: ToolChoice
  /** Schema of the answer; providers with structured output may enforce it. */
  readonly schema?: JsonSchema
  /** Whether and how to enforce the schema while generating. Default `off`. */
  readonly structured?: StructuredIntent
  /** Name of the schema for providers that require one: the name of the node. */
  readonly schemaName?: string
  /** The schema in words, which `system` lacks because `structured()` says that all of it is enforced: to add if it is not. */
  readonly schemaWords?: string
  /** Under a RAO contract: schema of the text in `primary_output`. */
  readonly primary?: JsonSchema
  readonly maxOutputTokens?: number
  /** `maxOutputTokens` of the request counts, not that of the settings. */
  readonly settings?: ModelSettings
  readonly idempotencyKey: string
  /** Trace context of the call, sent as a header if the provider supports headers. */
  readonly trace?: Trace
  readonly signal: AbortSignal
  /** If given, the call is streamed, and this receives every chunk of the text. */
  readonly onText?: (chunk: string) => void
  /** The same for a request with `messages`: receives every piece of the turn. */
  readonly onDelta?: (delta: AnswerDelta) => void
}

interface Common {
  /** Absent if structured output was not requested. */
  readonly structured?: StructuredOutcome
  /** What of the request the provider did not do as it was asked. */
  readonly warnings?: readonly ModelWarning[]
}

/** A setting, or another part of a request, that a provider ignored or replaced. */
export interface ModelWarning {
  /** Its name in the request, such as `seed` or `toolChoice`. */
  readonly setting: string
  readonly message: string
}

export type CallUsage = Omit<Usage, 'calls'>

/** Result of a call; failures are values, never thrown. */
export type ModelAnswer = Common &
  (
    | {
        readonly kind: 'text'
        readonly text: string
        /** `length`: the model reached its limit, even if the text parses; `cut`: the connection broke. */
        readonly finish: 'stop' | 'length' | 'cut'
        readonly usage: CallUsage
        /** Reasoning of the model; never part of the answer. */
        readonly reasoning?: string
        /** Of a request with `tools`: everything that came, in order, with the calls of tools. */
        readonly parts?: readonly AnswerPart[]
        /** Why it ended, in the provider's own word. */
        readonly rawFinish?: string
      }
    | { readonly kind: 'refused'; readonly message: string; readonly usage: CallUsage }
    /** Nothing was generated: too many requests, or overloaded. */
    | { readonly kind: 'throttled'; readonly message: string; readonly retryAfterMs?: number }
    /** No connection, or one that broke before an answer began. `notSent`: nothing left this machine. */
    | { readonly kind: 'unavailable'; readonly message: string; readonly notSent?: boolean }
    | { readonly kind: 'timed_out'; readonly message: string }
    | { readonly kind: 'cancelled'; readonly message: string }
    /** `text`: output that the provider rejected as invalid JSON; parsed like any other text. */
    | {
        readonly kind: 'error'
        readonly message: string
        /** What to change, if the provider knows. */
        readonly hint?: string
        readonly text?: string
        /** The same call would end the same way: a wrong key, an unknown model. Default false. */
        readonly fatal?: boolean
        readonly usage?: CallUsage
      }
  )

export interface Provider {
  /** Prefix of model names before the slash; `*` serves all providers that are not configured. */
  readonly name: string
  /** Ids of its models, without its name, if they are known. The first is the default model of an app that names none. */
  readonly models?: readonly string[]
  /** Its answers cost nothing, even if the model that it replaces has a price. */
  readonly free?: true
  /** It takes `messages` and `tools`, and answers with `parts`. */
  readonly tools?: true
  generate(request: ModelRequest): Promise<ModelAnswer>
  /** Whether a model takes files of a type. Absent: none. */
  takesFile?(file: { readonly model: string; readonly mediaType: string }): boolean | Promise<boolean>
  /** Predicts how structured output would be handled, before any call. Absent: not supported. */
  structured?(
    request: Pick<ModelRequest, 'model' | 'schema' | 'structured' | 'tools' | 'toolChoice'>,
  ): StructuredOutcome | Promise<StructuredOutcome>
  /** Keys that may only be sent to the provider; redactors read them. */
  secrets?(): readonly string[]
}

/** Returns why a call may be retried after a pause; undefined if it generated anything. */
export function toRetryableFailure(answer: ModelAnswer): RetryableFailure | undefined {
  if (answer.kind === 'unavailable') return { outcome: 'unavailable' }
  return answer.kind === 'throttled' ? { outcome: 'throttled', retryAfterMs: answer.retryAfterMs } : undefined
}

/** Whether the model generated anything; calls rejected before that cost nothing. */
export function wasGenerated(answer: ModelAnswer): boolean {
  return toRetryableFailure(answer) === undefined && !(answer.kind === 'error' && answer.fatal === true)
}
