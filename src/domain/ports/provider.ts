/** The port to models: one call, text in, text out. What the text means is the reader's business. */

import type { FailedTry } from '../../base/time/retry.ts'
import type { JsonSchema } from '../../schema/json-schema.ts'
import type { Usage } from '../output.ts'
import type { Trace } from './trace.ts'

/** How a node wants its model held to the schema; what a provider makes of it is its own business. */
export type StructuredIntent = 'off' | 'auto' | 'openai_json' | 'outlines' | 'xgrammar'

export interface ModelRequest {
  /** Without the provider's name. */
  readonly model: string
  readonly system: string
  readonly prompt: string
  /** What the answer must satisfy; providers that can hold a model to it may. */
  readonly schema?: JsonSchema
  /** Whether to hold the model to the schema, and how. Default `off`. */
  readonly structured?: StructuredIntent
  /** What the schema is called where a provider wants a name for it: the node's. */
  readonly schemaName?: string
  /** Under a RAO contract: what the text of `primary_output` must satisfy. */
  readonly primary?: JsonSchema
  readonly maxOutputTokens?: number
  readonly idempotencyKey: string
  /** The trace that the call belongs to; sent along where the provider takes headers. */
  readonly trace?: Trace
  readonly signal: AbortSignal
  /** Given: the call is streamed, and every piece of the text goes here as it arrives. */
  readonly onText?: (chunk: string) => void
}

/** What became of the intent. */
export type StructuredOutcome =
  | {
      readonly kind: 'applied'
      /** What the provider was asked for: `json_schema`, `json_object`, `json_tool`, `outlines`, `xgrammar`. */
      readonly as: string
      /** The author's keywords that nobody enforces there; the reader checks them afterwards. */
      readonly weakened: number
      /** How long what is sent for it is, at most, in bytes; a bound for its tokens. Default 0. */
      readonly bytes?: number
      /** The answer is one member of an object, because the provider takes only objects. */
      readonly wrapped?: string
    }
  | { readonly kind: 'skipped'; readonly reason: string }

interface Common {
  /** Absent when nothing was asked for. */
  readonly structured?: StructuredOutcome
}

export type CallUsage = Omit<Usage, 'calls'>

/** How a call ended; never thrown. */
export type ModelAnswer = Common &
  (
    | {
        readonly kind: 'text'
        readonly text: string
        /** `length`: the model was cut off, whatever the text looks like; `cut`: the connection was. */
        readonly finish: 'stop' | 'length' | 'cut'
        readonly usage: CallUsage
        /** What the model thought aloud; never part of the answer. */
        readonly reasoning?: string
      }
    | { readonly kind: 'refused'; readonly message: string; readonly usage: CallUsage }
    /** Nothing was generated: too many requests, or overloaded. */
    | { readonly kind: 'throttled'; readonly message: string; readonly retryAfterMs?: number }
    /** No connection, or one that broke before an answer began. `notSent`: nothing left this machine. */
    | { readonly kind: 'unavailable'; readonly message: string; readonly notSent?: boolean }
    | { readonly kind: 'timed_out'; readonly message: string }
    | { readonly kind: 'cancelled'; readonly message: string }
    /** `text`: what the provider would not accept as JSON; it is read like any other text. */
    | {
        readonly kind: 'error'
        readonly message: string
        /** What to change, where the provider knows. */
        readonly hint?: string
        readonly text?: string
        /** The same call would end the same way: a wrong key, an unknown model. Default false. */
        readonly fatal?: boolean
        readonly usage?: CallUsage
      }
  )

export interface Provider {
  /** The part of a model's name before the slash; `*` answers for every provider that is not there. */
  readonly name: string
  /** Its answers cost nothing, whatever the model costs that it stands for. */
  readonly free?: true
  generate(request: ModelRequest): Promise<ModelAnswer>
  /** What the provider would make of an intent, before any call; absent: nothing, models are left alone. */
  structured?(
    request: Pick<ModelRequest, 'model' | 'schema' | 'structured'>,
  ): StructuredOutcome | Promise<StructuredOutcome>
  /** Keys that must never leave but to the provider itself; whoever redacts asks for them. */
  secrets?(): readonly string[]
}

// What follows from how a call of a model ended.

/** Why a call may be made again after a pause: it brought nothing and costs nothing. */
export function failedTry(answer: ModelAnswer): FailedTry | undefined {
  if (answer.kind === 'unavailable') return { outcome: 'unavailable' }
  return answer.kind === 'throttled' ? { outcome: 'throttled', retryAfterMs: answer.retryAfterMs } : undefined
}

/** Whether a model has worked for this answer; calls that were turned away before that cost nothing. */
export function wasGenerated(answer: ModelAnswer): boolean {
  return failedTry(answer) === undefined && !(answer.kind === 'error' && answer.fatal === true)
}
