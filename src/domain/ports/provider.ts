/** Port to models: one call, text in, text out. The reader parses the text. */

import type { RetryableFailure } from '../../base/time/retry.ts'
import type { JsonSchema } from '../../schema/json-schema.ts'
import type { Usage } from '../output.ts'
import type { Trace } from './trace.ts'

/** How a node requests structured output; each provider maps it to what it supports. */
export type StructuredIntent = 'off' | 'auto' | 'openai_json' | 'outlines' | 'xgrammar'

export interface ModelRequest {
  /** Without the provider's name. */
  readonly model: string
  readonly system: string
  readonly prompt: string
  /** Schema of the answer; providers with structured output may enforce it. */
  readonly schema?: JsonSchema
  /** Whether and how to enforce the schema while generating. Default `off`. */
  readonly structured?: StructuredIntent
  /** Name of the schema for providers that require one: the name of the node. */
  readonly schemaName?: string
  /** Under a RAO contract: schema of the text in `primary_output`. */
  readonly primary?: JsonSchema
  readonly maxOutputTokens?: number
  readonly idempotencyKey: string
  /** Trace context of the call, sent as a header if the provider supports headers. */
  readonly trace?: Trace
  readonly signal: AbortSignal
  /** If given, the call is streamed, and this receives every chunk of the text. */
  readonly onText?: (chunk: string) => void
}

/** How the provider handled the request for structured output. */
export type StructuredOutcome =
  | {
      readonly kind: 'applied'
      /** The mode that was requested: `json_schema`, `json_object`, `json_tool`, `outlines`, `xgrammar`. */
      readonly as: string
      /** Number of keywords that the provider does not enforce; the reader checks them. */
      readonly weakened: number
      /** Maximum number of bytes sent for it, an upper bound of its tokens. Default 0. */
      readonly bytes?: number
      /** Name of the member that holds the answer, if the provider supports only objects. */
      readonly wrapped?: string
    }
  | { readonly kind: 'skipped'; readonly reason: string }

interface Common {
  /** Absent if structured output was not requested. */
  readonly structured?: StructuredOutcome
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
  /** Its answers cost nothing, even if the model that it replaces has a price. */
  readonly free?: true
  generate(request: ModelRequest): Promise<ModelAnswer>
  /** Predicts how structured output would be handled, before any call. Absent: not supported. */
  structured?(
    request: Pick<ModelRequest, 'model' | 'schema' | 'structured'>,
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
