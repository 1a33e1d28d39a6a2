/** The port to models: one call, text in, text out. What the text means is the reader's business. */
import type { JsonSchema } from '../../schema/json-schema.ts'
import type { Usage } from '../output.ts'

export interface ModelRequest {
  /** Without the provider's name. */
  readonly model: string
  readonly system: string
  readonly prompt: string
  /** What the answer must satisfy; providers that can hold a model to it may. */
  readonly schema?: JsonSchema
  readonly idempotencyKey: string
  readonly signal: AbortSignal
}

/** How a call ended; never thrown. */
export type ModelAnswer =
  | {
      readonly kind: 'text'
      readonly text: string
      /** `length`: the model was cut off, whatever the text looks like. */
      readonly finish: 'stop' | 'length'
      readonly usage: Omit<Usage, 'calls'>
    }
  | { readonly kind: 'refused'; readonly message: string; readonly usage: Omit<Usage, 'calls'> }
  | { readonly kind: 'throttled'; readonly message: string; readonly retryAfterMs?: number }
  /** `text`: what the provider would not accept as JSON; it is read like any other text. */
  | { readonly kind: 'error'; readonly message: string; readonly text?: string }

export interface Provider {
  /** The part of a model's name before the slash. */
  readonly name: string
  generate(request: ModelRequest): Promise<ModelAnswer>
}
