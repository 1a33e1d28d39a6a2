/** The rungs of the ladder, one row each: when it may be taken, what it asks, and what its events are called. */
import type { Issue } from '../../base/issue.ts'
import { isObject, type Json, own } from '../../base/json.ts'
import type { Output } from '../../domain/output.ts'
import type { ModelAnswer, StructuredIntent } from '../../domain/ports/provider.ts'
import type { Processing } from '../../domain/processing.ts'
import { raoEnvelopeSchema } from '../../domain/rao-envelope.ts'
import { simplifySchema } from '../../output/index.ts'
import { compileSchema } from '../../schema/compile.ts'
import type { JsonSchema } from '../../schema/json-schema.ts'
import type { Caller, OnEvent } from './caller.ts'
import { extractWords, repairWords, simplifiedWords, stricterWords, type Words } from './prompts.ts'
import type { CallOptions } from './send-request.ts'

/** A task on its way up. */
export interface Climb {
  readonly words: Words
  /** The author's schema: what the value must satisfy in the end. */
  readonly schema: JsonSchema
  readonly rao: boolean
  /** Constraints depend on the value: no text may stand in for it. */
  readonly constrained: boolean
  readonly processing: Processing
  readonly target: Pick<CallOptions, 'model' | 'provider' | 'schemaName' | 'maxOutputTokens' | 'stream'>
  readonly caller: Caller
  readonly signal: AbortSignal
  readonly onEvent: OnEvent
}

/** What one rung brought. */
export interface Try {
  readonly answer: ModelAnswer
  readonly issues: readonly Issue[]
  readonly text?: string | undefined
  readonly truncated?: boolean
  readonly output?: Output
  /** No value came of it. */
  readonly fallen?: true
  /** The budget did not allow the call. */
  readonly refused?: true
}

type Asked = Words & {
  readonly schema: JsonSchema
  readonly structured: StructuredIntent
  readonly primary?: JsonSchema
  /** The answer has another shape than the author's; this is the way back. */
  readonly restore?: (value: Json) => Json | undefined
}

export interface Rung {
  readonly name: 'first' | 'repair' | 'stricter' | 'extractor' | 'simplified' | 'degrade'
  /** As events and provenance call it (FSD-34). */
  readonly stage: string
  readonly family: 'task' | 'repair' | 'fallback'
  /** How provenance names a value that came from here; absent where the model answered the task itself. */
  readonly note?: string
  /** Whether it makes sense after what came last. */
  readonly follows: (last: Try, task: Climb) => boolean
  readonly ask?: (task: Climb, last: Try | undefined) => Asked | undefined
  /** For the rung without a call: what the text stands for. */
  readonly stand?: (task: Climb, text: string) => Json | undefined
}

/** What the model is asked for; the same as what must come back, unless `enforcement: off` holds only the former. */
export function askedFor({ enforcement, askedSchema }: Processing, schema: JsonSchema): JsonSchema {
  return enforcement === 'off' ? (askedSchema ?? schema) : schema
}

const first: Rung = {
  name: 'first',
  stage: 'first',
  family: 'task',
  follows: () => true,
  ask: ({ words, schema, rao, processing }) => ({
    ...words,
    schema: rao ? raoEnvelopeSchema : askedFor(processing, schema),
    structured: processing.structuredOutput,
    ...(rao && { primary: schema }),
  }),
}

const repair: Rung = {
  name: 'repair',
  stage: 'llm',
  family: 'repair',
  note: 'model-repair',
  // A text that was cut off lacks what no repair can know.
  follows: (last) => isText(last) && !last.truncated,
  ask: ({ schema, processing }, last) => ({
    ...repairWords(last?.text ?? '', last?.issues ?? [], schema),
    schema,
    structured: processing.structuredOutput,
  }),
}

const stricter: Rung = {
  name: 'stricter',
  stage: 'stricter',
  family: 'fallback',
  follows: () => true,
  ask: ({ words, schema, processing }) => ({
    ...stricterWords(words, schema),
    schema,
    structured: processing.structuredOutput,
  }),
}

const extractor: Rung = {
  name: 'extractor',
  stage: 'extractor',
  family: 'fallback',
  note: 'extract-from-text',
  follows: (last) => isText(last) && !last.truncated,
  ask: ({ schema, processing }, last) => ({
    ...extractWords(last?.text ?? '', schema),
    schema,
    structured: processing.structuredOutput,
  }),
}

const simplified: Rung = {
  name: 'simplified',
  stage: 'simplified',
  family: 'fallback',
  note: 'simplified-schema',
  follows: () => true,
  ask({ words, schema, processing }) {
    const flat = simplifySchema(schema)
    return {
      ...simplifiedWords(words, schema, flat.schema),
      schema: flat.schema,
      structured: processing.structuredOutput,
      restore: (value) => flat.restore(value).value as Json | undefined,
    }
  },
}

const degrade: Rung = {
  name: 'degrade',
  stage: 'degrade',
  family: 'fallback',
  note: 'degraded',
  follows: (last) => isText(last) && !last.truncated,
  stand: ({ schema }, text) => standIns(schema, text).find((value) => compileSchema(schema).accepts(value)),
}

/** Where nothing can be made of what came, because the model was cut off or said nothing, its call goes to asking again. */
export function insteadOf(rung: Rung, { answer }: Try): Rung | undefined {
  return answer.kind === 'text' && rung !== degrade ? stricter : undefined
}

/** The text itself, or the one object that the schema makes of it. */
function standIns(schema: JsonSchema, text: string): Json[] {
  const required = isObject(schema) ? own(schema, 'required') : undefined
  const [name] = Array.isArray(required) && required.length === 1 ? required : []
  return typeof name === 'string' ? [text, { [name]: text }] : [text]
}

function isText({ text }: Try): boolean {
  return text !== undefined && text.trim() !== ''
}

/**
 * The rungs of a task in order. Model repair leaves one call for every later rung that makes one; RAO nodes are asked once
 * and never repaired by a model (DECISIONS 21); where enforcement does not act there is nothing but the first call.
 */
export function rungsFor(task: Climb): readonly Rung[] {
  const { rao, constrained, processing, caller } = task
  const { enforcement, structuredOutput, enforceGrammar, fallback, repair: repairing } = processing
  if (rao || enforceGrammar || enforcement !== 'repair' || structuredOutput === 'off') return [first]
  const stages = [
    stricter,
    ...(fallback.enableExtractor ? [extractor] : []),
    ...(fallback.degradeToString && !constrained ? [degrade] : []),
  ].slice(0, fallback.maxStages)
  const later = [
    ...stages.filter((rung) => rung !== degrade),
    ...(processing.schemaSimplify ? [simplified] : []),
  ]
  const room = Math.max(caller.left() - 1 - later.length, 0)
  const repairs = repairing.enableLlm ? Math.min(repairing.maxAttempts, room) : 0
  return [
    first,
    ...Array.from({ length: repairs }, () => repair),
    ...later,
    ...stages.filter((rung) => rung === degrade),
  ].filter((rung, index) => rung === degrade || index < caller.left())
}
