/** The output of an attempt, and the possible outcomes of a call. */
import type { Issue } from '../base/errors/issue.ts'
import { isObject, type Json } from '../base/json.ts'
import type { Pointer } from '../base/pointer.ts'
import type { ReaderIssueCode, Repair } from '../output/index.ts'
import type { JsonSchema } from '../schema/json-schema.ts'
import type { attemptIssueTable } from './attempt-issue-table.ts'
import { checkSchema } from './parse/parsed.ts'
import { plainCopy } from './parse/plain-copy.ts'

/** Information that an attempt needs before it can continue: becomes an ask of kind `clarify`. */
interface Question {
  readonly text: string
  /** What the answer must satisfy. Default: any value. */
  readonly schema?: JsonSchema
}

const longestQuestion = 4_000

/** Parses an external question; returns the reason if it is not valid. */
export function readQuestion(given: unknown): Question | string {
  const copy = plainCopy(given)
  if (!copy.ok || !isObject(copy.value))
    return 'a question is an object with a text, and a schema if it has one'
  const { text, schema } = copy.value as { readonly [name: string]: Json }
  if (typeof text !== 'string' || text.trim() === '') return 'a question needs a text'
  if (text.length > longestQuestion) return `a question has at most ${longestQuestion} characters`
  if (schema === undefined) return { text }
  const [wrong] = checkSchema(schema, '/schema')
  if (wrong) return `the schema of a question cannot be used: ${wrong.message}`
  return { text, schema: schema as JsonSchema }
}

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

/**
 * Code of an issue of an attempt: how it ended, what the engine or an executor reports, what the reader reports. Open,
 * because capabilities report codes of their own; editors still complete the known ones.
 */
export type AttemptIssueCode =
  | `attempt/${Outcome}`
  | keyof typeof attemptIssueTable
  | ReaderIssueCode
  | (string & {})

/** How one attempt ended. */
export interface AttemptResult {
  readonly outcome: Outcome
  readonly output?: Output
  /** Without an output: the text from which no value could be read. Redacted, and absent where none is stored. */
  readonly raw?: string
  readonly issues: readonly Issue<AttemptIssueCode>[]
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

/** Maximum number of stored repairs. They are provenance, not evidence: beyond this, see the raw text. */
const mostNotes = 100

export function repairNotes(repairs: readonly Repair[]): RepairNote[] {
  return repairs
    .slice(0, mostNotes)
    .map(({ stage, rule, at }) => ({ stage, rule, ...('pointer' in at && { pointer: at.pointer }) }))
}

/** Those of the part, of what is in it and of what it is in; a repair without a pointer is of the whole text. */
export function notesAbout(notes: readonly RepairNote[], part: Pointer): RepairNote[] {
  return notes.filter(
    ({ pointer }) => pointer === undefined || isWithin(pointer, part) || isWithin(part, pointer),
  )
}

function isWithin(inner: Pointer, outer: Pointer): boolean {
  return inner === outer || inner.startsWith(`${outer}/`)
}
