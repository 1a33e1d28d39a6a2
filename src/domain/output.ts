/** The output of an attempt, and the possible outcomes of a call. */
import type { Issue } from '../base/errors/issue.ts'
import { isObject, type Json } from '../base/json.ts'
import type { Pointer } from '../base/pointer.ts'
import type { ReaderIssueCode, Repair } from '../output/index.ts'
import type { JsonSchema } from '../schema/json-schema.ts'
import type { FileReference } from './content/file-value.ts'
import { checkSchema } from './parse/parsed.ts'
import { plainCopy } from './parse/plain-copy.ts'

/** Information that an attempt needs before it can continue: becomes an ask of kind `clarify`. */
interface Question {
  readonly text: string
  /** What the answer must satisfy. Default: any value. */
  readonly schema?: JsonSchema
  /** What the executor needs with the answer; kept as it is, and passed back with it (`elicited` of the bundle). */
  readonly state?: Json
}

/** The answer of a person to a question that had a state, such as an elicitation of an MCP server. */
export interface ElicitedAnswer {
  readonly state: Json
  readonly value: Json
}

/** The answer as the next call has it: a value of the schema of the question, or a text where it has none. */
export function toClarification(value: Json | undefined, { schema }: Pick<Question, 'schema'>): Json {
  return schema !== undefined || typeof value === 'string' ? (value ?? null) : JSON.stringify(value ?? null)
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

/** Adds usage; what neither of them knows stays unknown. */
export function addUsage(a: Usage, b: Usage): Usage {
  const sum = (name: 'inputTokens' | 'outputTokens' | 'costUsd') =>
    (a[name] !== undefined || b[name] !== undefined) && { [name]: (a[name] ?? 0) + (b[name] ?? 0) }
  return { calls: a.calls + b.calls, ...sum('inputTokens'), ...sum('outputTokens'), ...sum('costUsd') }
}

/** A repair as the journal keeps it: enough for provenance and for a view of the raw text. */
export interface RepairNote {
  readonly stage: string
  readonly rule: string
  readonly pointer?: string
  /** Range of the raw text that was changed; only where the raw text is stored as it came. */
  readonly range?: readonly [start: number, end: number]
  /** What the range was changed to, if that is short. */
  readonly after?: string
}

export interface Output<Value = Json> {
  readonly value: Value
  /** As reported, for nodes with a RAO contract. */
  readonly confidence?: number
  readonly confidenceType?: string
  readonly escalate?: boolean
  readonly reasoning?: string
  readonly repairs?: readonly RepairNote[]
  /** The model's text stands in for what it should have answered; satisfies no hard constraint (C55). */
  readonly degraded?: true
  /** The raw text of a model, redacted, and without its middle if it is long; absent with `store_raw = false`. */
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

/** Data that belongs to a part of an answer and goes back to the provider with it, unchanged: signatures, encrypted reasoning. */
export type ProviderMetadata = { readonly [provider: string]: { readonly [name: string]: Json } }

/** A part of what a model answered, in its order; kept as it came, so that it can be sent back. */
export type AnswerPart =
  | { readonly type: 'text'; readonly text: string; readonly providerMetadata?: ProviderMetadata }
  | { readonly type: 'reasoning'; readonly text: string; readonly providerMetadata?: ProviderMetadata }
  | {
      readonly type: 'tool-call'
      readonly toolCallId: string
      readonly toolName: string
      /** The arguments as the model wrote them: JSON, if all is well. */
      readonly input: string
      readonly providerMetadata?: ProviderMetadata
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
      /** The server may ignore it without saying so: the schema is stated in words, too. */
      readonly unsure?: true
    }
  | { readonly kind: 'skipped'; readonly reason: string }

/** A prompt as it was sent. */
export interface SentPrompt {
  /** Why: `first`, or the fallback step, such as `repair`. */
  readonly step: string
  readonly system: string
  readonly prompt: string
  /** Files that were sent with it, by reference to the inputs of the node. */
  readonly files?: readonly FileReference[]
}

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
  /** What was sent to the model, one entry per call. Redacted, and absent where no raw text is stored. */
  readonly prompts?: readonly SentPrompt[]
  /** The same attempt would end so again: it is not repeated, and an alternate has its turn at once. */
  readonly final?: true
}

/** Maximum number of stored repairs. They are provenance, not evidence: beyond this, see the raw text. */
const mostNotes = 100

/** Maximum length of a stored change. */
const longestAfter = 200

/** With `ranges`, keeps the ranges of the text: only if the text that was read is the raw text itself. */
export function repairNotes(
  repairs: readonly Repair[],
  { ranges = false }: { readonly ranges?: boolean } = {},
): RepairNote[] {
  return repairs.slice(0, mostNotes).map(({ stage, rule, at, after }) => {
    if ('pointer' in at) return { stage, rule, pointer: at.pointer }
    if (!ranges) return { stage, rule }
    const isShort = typeof after === 'string' && after.length <= longestAfter
    return { stage, rule, range: at.span, ...(isShort && { after }) }
  })
}

/** Removes the ranges: the text that they belong to is not stored as it came. */
export function withoutRanges(notes: readonly RepairNote[]): RepairNote[] {
  return notes.map(({ range: _range, after: _after, ...note }) => note)
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

/**
 * Codes of the issues that the engine and the executors report of attempts and answers, besides those of the reader and
 * of failures, one row each. Capabilities may report codes of their own.
 */
export const attemptIssueTable = {
  'address/refused': 'the address of an agent is not allowed',
  'answer/limit': 'the answer of an agent is too large',
  'agent/costUsd': 'the agent has no answer, and its limit of cost is reached',
  'agent/tokens': 'the agent has no answer, and its limit of tokens is reached',
  'agent/turns': 'the agent has no answer, and its limit of turns is reached',
  'ask/invalid': 'the reply to an ask does not fit it',
  'attempt/circuit_open':
    'the capability or its model was unavailable several times in a row, and is not called for a while',
  'attempt/interrupted': 'the run moved on, and the call was aborted',
  'budget/exhausted': 'the budget does not allow the next call',
  'budget/unknown-price': 'the run limits its cost, and the price of the model is not known',
  'grammar/mismatch': 'the text does not match the grammar of the capability',
  'model/file': 'a file in the inputs is not well-formed',
  'model/file-refused': 'the provider of the model does not take files of this type',
  'model/file-size': 'the files of a call are too large',
  'model/no-provider': 'no provider is configured for the model',
  'model/no-tool': 'a tool of the agent is not registered in this process',
  'model/no-tools': 'the provider of the model does not support tools',
  'model/no-stage': 'a custom stage that the node names is not registered',
  'output/constraint': 'the answer does not satisfy a constraint',
  'output/missing': 'the plan yields no answer',
  'output/post-condition': 'the output does not satisfy a post-condition of the node',
  'rao/contract': 'the RAO contract of the node cannot be used',
  'rao/schema-violation': 'the output does not have the form that a RAO contract requires',
  'rao/suppressed': 'the confidence of the output is too low',
} as const satisfies Record<string, string>
