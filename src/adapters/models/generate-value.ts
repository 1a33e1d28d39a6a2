/** Generates a value under contract with a model, without an engine: the same reader, fallbacks and budget that nodes have. */

import type { Issue } from '../../base/errors/issue.ts'
import { isObject, type Json } from '../../base/json.ts'
import { callable, each, must, name, object, type Rows, refuseOptions } from '../../base/option-rows.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { RetryPolicy } from '../../base/time/retry.ts'
import { defaultProcessing, type GivenProcessing, mergeProcessing } from '../../domain/draft/processing.ts'
import type { OutputSchema, OutputValue } from '../../domain/envelope/envelope-input.ts'
import type { AttemptResult, Outcome, Output } from '../../domain/output.ts'
import { type ParseText, parseHere } from '../../domain/ports/parse-text.ts'
import type { Provider } from '../../domain/ports/provider.ts'
import { createRedactor } from '../../domain/redaction/redact.ts'
import { redactResult } from '../../domain/redaction/redact-result.ts'
import { checkPrices } from '../../domain/settings/check-prices.ts'
import { type ModelSettings, modelSettingsIssues } from '../../domain/settings/model-settings.ts'
import type { InferPartial } from '../../output/index.ts'
import type { JsonSchema } from '../../schema/json-schema.ts'
import {
  isForeignSchema,
  type StandardSchemaV1,
  standardJsonSchema,
  unguidedNote,
  validateStandard,
} from '../../schema/standard.ts'
import { isTextContract } from '../providers/structured-output/structured-plan.ts'
import { findProvider, noProvider } from './find-provider.ts'
import { generate } from './generate/generation.ts'
import { createCaller, mostOutputTokens, type OnEvent } from './generate/model-caller.ts'
import { taskWords } from './generate/prompts.ts'
import type { PartialValue } from './generate/stream-watch.ts'
import { takeFiles } from './generate/take-files.ts'
import type { Price } from './prices.ts'

interface GenerateSettings {
  readonly providers: readonly Provider[]
  /** `provider/model`. */
  readonly model: string
  /** What to do. */
  readonly objective: string
  /** What to do it with. Default: nothing. */
  readonly inputs?: Json | object
  /** Additional instructions for the model. */
  readonly instructions?: string
  /** What the schema is called. Default `answer`. */
  readonly name?: string
  readonly processing?: GivenProcessing
  /** Temperature, reasoning effort and others. */
  readonly modelSettings?: ModelSettings
  /** Calls that it may take. Default 4. */
  readonly calls?: number
  readonly maxTokens?: number
  readonly maxCostUsd?: number
  /** Before the list prices. */
  readonly prices?: readonly Price[]
  /** Known secrets, beside the providers' keys, that must not leave. */
  readonly secrets?: readonly string[]
  readonly idempotencyKey?: string
  readonly signal?: AbortSignal
  /** Retries of throttled or undelivered calls. Default: five attempts, 0.5 s doubling to 30 s, full jitter. */
  readonly retry?: Partial<RetryPolicy>
  /** Clock and randomness of retries. Default: the system's. */
  readonly clock?: Clock
  readonly random?: () => number
  readonly onEvent?: OnEvent
  /** Reads the answers. Default: on this thread. */
  readonly parseText?: ParseText
}

export interface GenerateOptions<S extends OutputSchema = OutputSchema> extends GenerateSettings {
  /**
   * What the value must satisfy: a schema of Zod, Valibot, ArkType and others, whose validator has the last word and converts
   * the value, or a JSON Schema. The value has its type, unless `processing.enforcement` is `off`.
   */
  readonly schema: S
  /** JSON Schema of a `schema` whose library has none. */
  readonly jsonSchema?: JsonSchema
  /** Streams, and shows the value while it grows: unvalidated and not yet converted, so a number may still be a text. */
  readonly onPartial?: (partial: PartialValue<InferPartial<S>>) => void
}

type Common = Omit<AttemptResult, 'outcome' | 'output'>

/** The value satisfies its schema. */
export interface GeneratedValue<Value = Json> extends Common {
  readonly outcome: 'ok'
  readonly output: Output<Value>
}

/** There is no value; `outcome` and `issues` say why. */
export interface NoValue extends Common {
  readonly outcome: Exclude<Outcome, 'ok'>
  readonly output?: never
}

/** A union on `outcome`: only `ok` has an output. */
export type GenerateResult<Value = Json> = GeneratedValue<Value> | NoValue

const text = must((value) => typeof value === 'string', 'a text')
const count = must((value) => typeof value === 'number' && value >= 0, 'a number, 0 or more')
const anything = () => []
const isJsonSchema = (value: unknown) =>
  typeof value === 'boolean' || (isObject(value) && !isForeignSchema(value))

const generateRows = {
  providers: each(object),
  model: name,
  objective: text,
  schema: must(
    (value) => isForeignSchema(value) || isJsonSchema(value),
    'a JSON Schema, or a schema of Zod, Valibot, ArkType and others',
  ),
  jsonSchema: must(isJsonSchema, 'a JSON Schema'),
  inputs: anything,
  instructions: text,
  name: text,
  processing: object,
  modelSettings: (value: unknown, at: string) => modelSettingsIssues(value, at),
  calls: count,
  maxTokens: count,
  maxCostUsd: count,
  prices: checkPrices,
  secrets: each(text),
  idempotencyKey: name,
  signal: must((value) => value instanceof AbortSignal, 'an AbortSignal'),
  retry: object,
  clock: object,
  random: callable,
  onEvent: callable,
  parseText: callable,
  onPartial: callable,
} satisfies Rows & Record<keyof GenerateOptions, unknown>

/**
 * Never throws for model errors: see the outcome. Throws `option/invalid` for invalid options.
 *
 * @example
 * const { outcome, output } = await generateValue({ providers: [rehearsal()], model: 'rehearsal/any', objective, schema })
 */
export async function generateValue<const S extends OutputSchema = OutputSchema>(
  options: GenerateOptions<S>,
): Promise<GenerateResult<OutputValue<S>>> {
  refuseOptions('generate', withRequired(options), generateRows)
  const { schema, jsonSchema } = options
  const validator = isForeignSchema(schema) ? schema : undefined
  const known = validator ? standardJsonSchema(validator, jsonSchema) : (schema as JsonSchema)
  const show = options.onPartial
  const result = await generateJson(options, {
    schema: known ?? true,
    validator,
    // The reader shapes partial values by the same schema that their type comes from.
    onPartial: show && ((partial) => show(partial as PartialValue<InferPartial<S>>)),
  })
  const notes = validator && known === undefined ? [unguidedNote(validator)] : []
  const noted = notes.length > 0 ? { ...result, issues: [...result.issues, ...notes] } : result
  return typed(noted, validator)
}

/** Passes an accepted value through the validator, which may convert it. Redaction may have changed the value since it was accepted. */
function typed<Value>(result: AttemptResult, validator: StandardSchemaV1 | undefined): GenerateResult<Value> {
  const { outcome, output, ...rest } = result
  if (outcome !== 'ok' || output === undefined) return { ...rest, outcome } as NoValue
  // Without a validator, the reader has checked the value against the JSON Schema that its type comes from.
  const read = validator ? validateStandard(validator, output.value) : { value: output.value }
  if ('issues' in read) return { ...rest, outcome: 'invalid', issues: [...rest.issues, ...read.issues] }
  return { ...rest, outcome, output: { ...output, value: read.value as Value } }
}

interface Wanted {
  readonly schema: JsonSchema
  readonly validator: StandardSchemaV1 | undefined
  readonly onPartial: ((partial: PartialValue) => void) | undefined
}

async function generateJson(
  options: GenerateSettings,
  { schema, validator, onPartial }: Wanted,
): Promise<AttemptResult> {
  const { providers, model, objective, signal = new AbortController().signal } = options
  const provider = findProvider(providers, model)
  if (provider === undefined) return noProvider(model)
  const redactor = createRedactor({
    secrets: [...(options.secrets ?? []), ...providers.flatMap((one) => one.secrets?.() ?? [])],
  })
  const processing = mergeProcessing(defaultProcessing, options.processing)
  const onEvent: OnEvent = (event, payload) =>
    options.onEvent?.(event, payload && (redactor.value(payload) as typeof payload))
  const { calls = 4, maxTokens, maxCostUsd, idempotencyKey = 'generate' } = options
  const caller = createCaller({
    budget: {
      calls,
      ...(maxTokens !== undefined && { tokens: maxTokens }),
      ...(maxCostUsd !== undefined && { costUsd: maxCostUsd }),
    },
    redactor,
    prices: options.prices ?? [],
    idempotencyKey,
    signal,
    onEvent,
    retry: { policy: options.retry, clock: options.clock, random: options.random },
  })
  // An object typed by an interface is JSON as well; the compiler cannot know.
  const taken = await takeFiles((options.inputs ?? {}) as Json, { model, provider })
  if ('refused' in taken) return taken.refused
  const bundle = {
    objective,
    inputs: taken.inputs,
    instructions: options.instructions ?? '',
    specialInstructions: [],
    returns: schema,
    clarifications: [],
  }
  const { enabled, earlyAbort, aggregateStructured } = processing.streaming
  const streams = (enabled || onPartial !== undefined) && (aggregateStructured || isTextContract(schema))
  const show =
    onPartial && ((partial: PartialValue) => onPartial({ ...partial, value: redactor.known(partial.value) }))
  const result = await generate({
    words: taskWords({ bundle, rao: false, redactor }),
    schema,
    refuse: validator && ((value) => findRefusals(validator, value)),
    rao: false,
    constrained: false,
    processing,
    target: {
      model,
      provider,
      schemaName: options.name ?? 'answer',
      maxOutputTokens: mostOutputTokens(options.modelSettings, processing),
      settings: options.modelSettings,
      files: taken.files,
      stream: streams ? { earlyAbort, onPartial: show } : undefined,
    },
    caller,
    signal,
    onEvent,
    parseText: options.parseText ?? parseHere,
  })
  return redactResult(result, { redactor })
}

function findRefusals(validator: StandardSchemaV1, value: Json): readonly Issue[] {
  const validated = validateStandard(validator, value)
  return 'issues' in validated ? validated.issues : []
}

/** Requires these options: without them, the request is meaningless. */
function withRequired(options: unknown): unknown {
  if (!isObject(options)) return options
  const { providers = null, model = null, objective = null, schema = null } = options
  return { ...options, objective, schema, providers, model }
}
