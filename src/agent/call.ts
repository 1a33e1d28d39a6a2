/** A call of an agent: what Proviso sends, and how the function of the agent ends it. */
import type { Json } from '../base/json.ts'
import type { Bundle } from '../domain/ports/dispatcher.ts'
import type { JsonSchema } from '../schema/json-schema.ts'

/** The verified body of a call. */
export interface CallBody extends Bundle {
  readonly runId: string
  readonly nodeId: string
  readonly attempt: number
  readonly capabilityId: string
  /** The call is under a RAO contract and expects its envelope. */
  readonly rao?: boolean
  readonly callbackUrl?: string
}

/** A call that was answered with 202, or that a worker took: its answer is posted to `callbackUrl`. */
export interface AcceptedCall {
  readonly idempotencyKey: string
  readonly body: CallBody
  readonly callbackUrl: string
  /** Signs the answer of a call that a worker took. */
  readonly signingKey?: string
  /** The answer, when the function has ended and the callback has not been delivered yet. */
  readonly answer?: CallAnswer
}

/** How a call ends, in the form of a callback. */
export type CallAnswer =
  | { readonly output: Json }
  | { readonly text: string }
  | { readonly question: string; readonly schema?: JsonSchema }
  | { readonly error: CallError }

export interface CallError {
  readonly message: string
  readonly outcome?: 'refused' | 'provider_error'
  readonly notApplied?: boolean
}

/** What a function returns under a RAO contract (`context.rao`). */
export interface RaoAnswer {
  readonly primary_output: unknown
  readonly confidence: number
  readonly confidence_type: string
  readonly escalate: boolean
  readonly reasoning?: unknown
}

/** Whether repeating the call under its key must return this answer: failures and questions may end differently. */
export function isKept(answer: CallAnswer): boolean {
  return 'output' in answer || 'text' in answer || ('error' in answer && answer.error.outcome === 'refused')
}
