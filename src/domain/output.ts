/** What an attempt yields, and the ways in which a call can end. */
import type { Issue } from '../base/issue.ts'
import type { Json } from '../base/json.ts'
import type { Question } from './question.ts'

/** Every way in which a call ends; control flow is never one of them. */
export type Outcome =
  | 'ok'
  | 'invalid'
  | 'truncated'
  | 'refused'
  | 'timed_out'
  /** Turned away before anything was done (429, 503), as often as one attempt tries. */
  | 'throttled'
  /** No connection, or one that broke before an answer began, as often as one attempt tries. */
  | 'unavailable'
  | 'provider_error'
  | 'cancelled'
  /** A person has to answer something first; nothing was done. */
  | 'unclear'
  /** The process died or the run moved on during the call: it is unknown whether it took effect. */
  | 'outcome_unknown'

export interface Usage {
  readonly calls: number
  readonly inputTokens?: number
  readonly outputTokens?: number
  readonly costUsd?: number
}

/** A repair as the journal keeps it: enough for provenance, without the text. */
export interface RepairNote {
  readonly stage: string
  readonly rule: string
  readonly pointer?: string
}

export interface Output {
  readonly value: Json
  /** As reported, for nodes with a RAO contract. */
  readonly confidence?: number
  readonly confidenceType?: string
  readonly escalate?: boolean
  readonly reasoning?: string
  readonly repairs?: readonly RepairNote[]
  /** The model's text stands in for what it should have answered; satisfies no hard constraint (C55). */
  readonly degraded?: true
  /** The raw text of a model, redacted; absent with `store_raw = false`. */
  readonly raw?: string
}

/** How one attempt ended. */
export interface AttemptResult {
  readonly outcome: Outcome
  readonly output?: Output
  readonly issues: readonly Issue[]
  readonly usage: Usage
  readonly model?: string
  /** With `throttled`: the last pause that the other side asked for. */
  readonly retryAfterMs?: number
  /** The capability said that nothing was applied, so that trying again is safe. */
  readonly notApplied?: boolean
  /** With `unclear`: what has to be answered. */
  readonly question?: Question
  /** The run moved on while the call was under way, and aborted it. */
  readonly interrupted?: true
  /** The same attempt would end so again: it is not repeated, and an alternate has its turn at once. */
  readonly final?: true
}
