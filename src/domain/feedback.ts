/**
 * Feedback: what people and checks said about earlier work. Each entry is a fact of the journal (`feedback_recorded`) and is
 * passed to the next attempts of the nodes it is about and to the planner of the next version.
 */
import type { Issue } from '../base/errors/issue.ts'
import type { Json } from '../base/json.ts'

/**
 * `reply`: a person's reply to an ask. `validation`: an output does not satisfy its node's contract. `goal`: the answer does
 * not satisfy the caller's contract. `plan`: a draft was rejected.
 */
export type FeedbackSource = 'reply' | 'validation' | 'goal' | 'plan'

export interface Feedback {
  readonly source: FeedbackSource
  /** Nodes whose outputs it is about; absent for findings about a draft. */
  readonly nodes?: readonly string[]
  readonly requestId?: string
  readonly decision?: Decision
  readonly note?: string
  /** The value that was rejected or found invalid, or the one that a person gave instead; redacted. */
  readonly value?: Json
  /** The value was too long: `value` is the beginning of its JSON text. */
  readonly cut?: true
  readonly issues?: readonly Issue[]
  /** Who replied. */
  readonly by?: string
}

/** An entry as the state of a run keeps it. */
export interface RecordedFeedback extends Feedback {
  /** The plan in force when it was recorded. */
  readonly planVersion: number
}

export const feedbackLimits = {
  /** Characters of a value's JSON text, of a note, and of the message of an issue. */
  value: 8_000,
  note: 4_000,
  message: 500,
  /** Issues of one entry. */
  issues: 20,
  /** Entries that an attempt or a planner gets: the latest. */
  entries: 10,
  /** Entries that the state keeps: the latest. The journal has all of them. */
  kept: 200,
} as const

/** What a person may decide about an ask, and what may follow a rejection. */
export type Decision = 'approve' | 'edit' | 'reject' | 'answer'

/** The run or node fails, the producing nodes run again with feedback, or a new plan is made. */
export type RejectAction = 'fail' | 'retry' | 'replan'
