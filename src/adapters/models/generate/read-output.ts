/** Parses a model's text into a value or issues; the author's schema always decides. */
import type { Issue } from '../../../base/errors/issue.ts'
import { isObject, type Json, own } from '../../../base/json.ts'
import { tokens } from '../../../base/pointer.ts'
import { declines } from '../../../domain/attempt/refusal.ts'
import type { Processing } from '../../../domain/draft/processing.ts'
import { type RepairNote, repairNotes } from '../../../domain/output.ts'
import type { ParseText } from '../../../domain/ports/parse-text.ts'
import type { StructuredOutcome } from '../../../domain/ports/provider.ts'
import { isRaoError, violationIssue } from '../../../domain/rao/rao-contract.ts'
import { raoEnvelopeSchema, readRaoEnvelope } from '../../../domain/rao/rao-envelope.ts'
import type { ParseOptions, ParseSuccess } from '../../../output/index.ts'
import { compileSchema } from '../../../schema/compile/compile.ts'
import type { JsonSchema } from '../../../schema/json-schema.ts'
import { isTextContract } from '../../providers/structured-output/structured-plan.ts'

export type Reading =
  | {
      readonly ok: true
      readonly value: Json
      readonly repairs: readonly RepairNote[]
      /** What the model wrote before its text, in tags. */
      readonly reasoning?: string
      readonly truncated: boolean
    }
  | {
      readonly ok: false
      readonly issues: readonly Issue[]
      readonly truncated: boolean
      /** The text declines the task and carries no value. */
      readonly declined?: true
    }

interface ReadingContext {
  readonly schema: JsonSchema
  /** The answer is a RAO envelope: its syntax may be repaired, but its fields are taken unchanged or not at all (C47). */
  readonly rao: boolean
  readonly processing: Pick<
    Processing,
    'aop' | 'shadow' | 'reader' | 'enforceGrammar' | 'enforcement' | 'structuredOutput'
  >
  readonly onEvent: NonNullable<ParseOptions['onEvent']>
  readonly parseText: ParseText
  readonly signal?: AbortSignal | undefined
  /** The text as the model wrote it: ranges of repairs are kept if it is what the reader gets. */
  readonly raw?: string
}

const untouched: ParseOptions = { aop: 'minimal', closed: ['', '/*'] }

export async function readText(
  text: string,
  context: ReadingContext,
  structured?: StructuredOutcome,
): Promise<Reading> {
  const reading = await readAny(text, { raw: text, ...context }, structured)
  if (!declines(text)) return reading
  if (reading.ok && (isTextContract(context.schema) || !quotes(reading.value, text))) return reading
  return { ok: false, issues: [declinedIssue(text)], truncated: false, declined: true }
}

/** Whether the whole text has become part of the value. */
function quotes(value: Json, text: string): boolean {
  return JSON.stringify(value).includes(JSON.stringify(text.trim()).slice(1, -1))
}

function declinedIssue(text: string): Issue {
  const message = `The answer declines the task: ${text.trim().slice(0, 300)}`
  return { code: 'attempt/refused', at: { pointer: '' }, message }
}

async function readAny(
  text: string,
  context: ReadingContext,
  structured?: StructuredOutcome,
): Promise<Reading> {
  const { schema, rao, processing, onEvent } = context
  const { shadow } = processing
  if (processing.enforceGrammar) return readGrammar(text, rao ? raoEnvelopeSchema : schema, context)
  if (rao) return readEnvelope(text, { ...untouched, shadow, onEvent }, context)
  const hasStages = (processing.reader.stages?.length ?? 0) > 0
  const options = { aop: processing.aop, ...processing.reader, shadow, onEvent }
  if (isTextContract(schema)) {
    if (processing.aop === 'full' && /^\s*[<[◁]/.test(text)) {
      const found = await read(context, text, schema, options)
      if (found.ok && found.reasoning !== undefined) return found
    }
    const value = plainText(text)
    if (hasStages) return read(context, JSON.stringify(value), schema, { ...options, aop: 'minimal' })
    if (compileSchema(schema, processing.reader).accepts(value))
      return { ok: true, value, repairs: [], truncated: false }
  }
  if (processing.enforcement === 'off' && processing.structuredOutput !== 'off')
    return readUnheld(text, context, structured)
  const held = structured?.kind === 'applied' ? undo(text, context, structured) : undefined
  if (held !== undefined && !hasStages) return { ok: true, value: held, repairs: [], truncated: false }
  const given = held === undefined ? text : JSON.stringify(held)
  // Custom stages also run on valid JSON: the reader runs them from `minimal` on.
  const isJson = hasStages && processing.aop === 'off' && strict(given) !== undefined
  return read(context, given, schema, isJson ? { ...options, aop: 'minimal' } : options)
}

/** `enforcement: off`: JSON as far as the reader finds some, else the text; nothing is read toward the schema. */
async function readUnheld(
  text: string,
  context: ReadingContext,
  structured?: StructuredOutcome,
): Promise<Reading> {
  const { processing, onEvent } = context
  const taken = (value: Json): Reading => ({ ok: true, value, repairs: [], truncated: false })
  const whole = strict(text)
  const wrapped = structured?.kind === 'applied' ? structured.wrapped : undefined
  if (wrapped !== undefined && isObject(whole))
    return taken((own(whole, wrapped) as Json | undefined) ?? whole)
  if (whole !== undefined) return taken(whole)
  const { aop, shadow, reader } = processing
  const found = await read(context, text, { type: ['object', 'array'] }, { aop, ...reader, shadow, onEvent })
  return found.ok ? found : taken(text)
}

/** What keeps an answer from being the envelope is said in the specification's own words; where it is follows. */
async function readEnvelope(
  text: string,
  options: ParseOptions,
  { parseText, signal, raw }: ReadingContext,
): Promise<Reading> {
  const result = await parseText(text, raoEnvelopeSchema, options, signal)
  if (result.ok) return accepted(result, { ranges: text === raw })
  const violation = readRaoEnvelope(result.candidate)
  const issues = isRaoError(violation) ? [violationIssue(violation), ...result.issues] : result.issues
  return { ok: false, issues, truncated: result.truncated }
}

async function read(
  { parseText, signal, raw }: ReadingContext,
  text: string,
  schema: JsonSchema,
  options: ParseOptions,
): Promise<Reading> {
  const result = await parseText(text, schema, options, signal)
  return result.ok
    ? accepted(result, { ranges: text === raw })
    : { ok: false, issues: result.issues, truncated: result.truncated }
}

function accepted(result: ParseSuccess<unknown>, options: { readonly ranges: boolean }): Reading {
  const repairs = repairNotes(result.repairs, options)
  const reasoning = result.repairs.find(({ rule }) => rule === 'reasoning')?.before
  return {
    ok: true,
    value: result.value as Json,
    repairs,
    truncated: result.truncated,
    ...(typeof reasoning === 'string' && { reasoning: withoutTags(reasoning) }),
  }
}

function withoutTags(reasoning: string): string {
  return reasoning.replace(/^\s*[<[◁][^>\]▷]*[>\]▷]\s*|\s*[<[◁]\/[^>\]▷]*[>\]▷]\s*$/g, '')
}

/** `enforce_grammar`: the text must be valid JSON for the schema without any repair, or the attempt fails (AROS-37). */
async function readGrammar(
  text: string,
  schema: JsonSchema,
  { processing, parseText, signal }: ReadingContext,
): Promise<Reading> {
  const { linearPatterns = false } = processing.reader
  const result = await parseText(text.trim(), schema, { aop: 'off', linearPatterns }, signal)
  if (result.ok) return { ok: true, value: result.value as Json, repairs: [], truncated: false }
  const issues = result.issues.map((issue) => ({ ...issue, code: 'grammar/mismatch' }))
  return { ok: false, issues, truncated: false }
}

/** A JSON string stands for its text; everything else is the text. */
function plainText(text: string): string {
  const value = strict(text)
  return typeof value === 'string' ? value : text
}

/** Takes back what was done to the schema for the provider's sake: the wrapper, and null for what is absent. */
function undo(
  text: string,
  { schema, processing }: ReadingContext,
  { wrapped, as }: Extract<StructuredOutcome, { kind: 'applied' }>,
): Json | undefined {
  const whole = strict(text)
  if (whole === undefined || as !== 'json_schema') return undefined
  const value = wrapped !== undefined && isObject(whole) ? (own(whole, wrapped) as Json | undefined) : whole
  if (value === undefined) return undefined
  const compiled = compileSchema(schema, processing.reader)
  const bare = withoutNulls(value, compiled.validate(value))
  return compiled.accepts(bare) ? bare : undefined
}

/** Without the members that are null where the author's schema does not want null. */
function withoutNulls(value: Json, issues: readonly Issue[]): Json {
  if (issues.length === 0) return value
  const copy = structuredClone(value)
  for (const { at } of issues) {
    if (!('pointer' in at) || at.pointer === '') continue
    const path = tokens(at.pointer)
    const last = path.pop() ?? ''
    let holder: unknown = copy
    for (const token of path)
      holder = typeof holder === 'object' && holder !== null ? own(holder, token) : undefined
    if (isObject(holder) && own(holder, last) === null) delete holder[last]
  }
  return copy
}

function strict(text: string): Json | undefined {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
