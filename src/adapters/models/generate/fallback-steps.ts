/** The fallback steps of a generation, one row each: when it applies, what it asks, and the names of its events. */
import type { Issue } from '../../../base/errors/issue.ts'
import { isObject, type Json, own } from '../../../base/json.ts'
import type { Processing } from '../../../domain/draft/processing.ts'
import type { Output } from '../../../domain/output.ts'
import type { ParseText } from '../../../domain/ports/parse-text.ts'
import type { ModelAnswer, StructuredIntent } from '../../../domain/ports/provider.ts'
import { raoEnvelopeSchema } from '../../../domain/rao/rao-envelope.ts'
import { simplifySchema } from '../../../output/index.ts'
import { compileSchema } from '../../../schema/compile/compile.ts'
import type { JsonSchema } from '../../../schema/json-schema.ts'
import type { Caller, OnEvent } from './model-caller.ts'
import { extractWords, repairWords, simplifiedWords, stricterWords, type Words } from './prompts.ts'
import type { CallOptions } from './send-request.ts'

/** A task in progress. */
export interface Generation {
  readonly words: Words
  /** The author's schema: what the value must satisfy in the end. */
  readonly schema: JsonSchema
  /** Returns what the caller's own validator has against a value that satisfies the schema. Absent: nothing. */
  readonly refuse?: ((value: Json) => readonly Issue[]) | undefined
  readonly rao: boolean
  /** Constraints depend on the value: no plain text may replace it. */
  readonly constrained: boolean
  readonly processing: Processing
  readonly target: Pick<
    CallOptions,
    'model' | 'provider' | 'schemaName' | 'maxOutputTokens' | 'settings' | 'stream' | 'files'
  >
  readonly caller: Caller
  readonly signal: AbortSignal
  readonly onEvent: OnEvent
  readonly parseText: ParseText
}

/** The outcome of one step. */
export interface AttemptOutcome {
  readonly answer: ModelAnswer
  readonly issues: readonly Issue[]
  readonly text?: string | undefined
  readonly truncated?: boolean
  readonly output?: Output
  /** There is no value. */
  readonly fallen?: true
  /** The budget did not allow the call. */
  readonly refused?: true
}

type Asked = Words & {
  readonly schema: JsonSchema
  readonly structured: StructuredIntent
  readonly primary?: JsonSchema
  /** Restores the author's shape from a simplified answer. */
  readonly restore?: (value: Json) => Json | undefined
}

export interface FallbackStep {
  readonly name: 'first' | 'repair' | 'stricter' | 'extractor' | 'simplified' | 'degrade'
  /** Name in events and provenance (FSD-34). */
  readonly stage: string
  readonly family: 'task' | 'repair' | 'fallback'
  /** Name in the provenance of a value from this step; absent where the model answered the task itself. */
  readonly note?: string
  /** Whether the step makes sense after the last outcome. */
  readonly follows: (last: AttemptOutcome, task: Generation) => boolean
  readonly ask?: (task: Generation, last: AttemptOutcome | undefined) => Asked | undefined
  /** For the step without a call: converts the text to a value. */
  readonly degrade?: (task: Generation, text: string) => Json | undefined
}

/** What the model is asked for; the same as what must come back, unless `enforcement: off` holds only the former. */
export function askedFor({ enforcement, askedSchema }: Processing, schema: JsonSchema): JsonSchema {
  return enforcement === 'off' ? (askedSchema ?? schema) : schema
}

const first: FallbackStep = {
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

const repair: FallbackStep = {
  name: 'repair',
  stage: 'llm',
  family: 'repair',
  note: 'model-repair',
  // A truncated text lacks parts that a repair cannot know.
  follows: (last) => isText(last) && !last.truncated,
  ask: ({ schema, processing }, last) => ({
    ...repairWords(last?.text ?? '', last?.issues ?? [], schema),
    schema,
    structured: processing.structuredOutput,
  }),
}

const stricter: FallbackStep = {
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

const extractor: FallbackStep = {
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

const simplified: FallbackStep = {
  name: 'simplified',
  stage: 'simplified',
  family: 'fallback',
  note: 'simplified-schema',
  follows: () => true,
  ask({ words, schema, processing }) {
    const flat = simplifySchema(schema)
    return {
      ...simplifiedWords(words, flat.schema),
      schema: flat.schema,
      structured: processing.structuredOutput,
      restore: (value) => flat.restore(value).value as Json | undefined,
    }
  },
}

const degrade: FallbackStep = {
  name: 'degrade',
  stage: 'degrade',
  family: 'fallback',
  note: 'degraded',
  follows: (last) => isText(last) && !last.truncated,
  degrade: ({ schema, processing, refuse }, text) =>
    fallbackValues(schema, text).find(
      (value) =>
        compileSchema(schema, processing.reader).accepts(value) && (refuse?.(value) ?? []).length === 0,
    ),
}

/** Replaces a step that cannot use the last answer, because it was truncated or empty, with another request. */
export function findReplacement(step: FallbackStep, { answer }: AttemptOutcome): FallbackStep | undefined {
  return answer.kind === 'text' && step !== degrade ? stricter : undefined
}

/** Returns the text itself, or the one object that the schema allows for it. */
function fallbackValues(schema: JsonSchema, text: string): Json[] {
  const required = isObject(schema) ? own(schema, 'required') : undefined
  const [name] = Array.isArray(required) && required.length === 1 ? required : []
  return typeof name === 'string' ? [text, { [name]: text }] : [text]
}

function isText({ text }: AttemptOutcome): boolean {
  return text !== undefined && text.trim() !== ''
}

/**
 * Plans the steps of a task in order. Model repair leaves one call for every later step that makes one; RAO nodes are asked
 * once and never repaired by a model (DECISIONS 21); without enforcement there is only the first call.
 */
export function planSteps(task: Generation): readonly FallbackStep[] {
  const { rao, constrained, processing, caller } = task
  const { enforcement, structuredOutput, enforceGrammar, fallback, repair: repairing } = processing
  if (rao || enforceGrammar || enforcement !== 'repair' || structuredOutput === 'off') return [first]
  const stages = [
    stricter,
    ...(fallback.enableExtractor ? [extractor] : []),
    ...(fallback.degradeToString && !constrained ? [degrade] : []),
  ].slice(0, fallback.maxStages)
  const later = [
    ...stages.filter((step) => step !== degrade),
    ...(processing.schemaSimplify ? [simplified] : []),
  ]
  const available = Math.max(caller.left() - 1 - later.length, 0)
  const repairs = repairing.enableLlm ? Math.min(repairing.maxAttempts, available) : 0
  return [
    first,
    ...Array.from({ length: repairs }, () => repair),
    ...later,
    ...stages.filter((step) => step === degrade),
  ].filter((step, index) => step === degrade || index < caller.left())
}
