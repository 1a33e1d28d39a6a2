/** Generates a value under contract with a model, without an engine: the same reader, fallbacks and budget that nodes have. */

import { isObject, type Json } from '../../base/json.ts'
import { callable, each, must, name, object, type Rows, refuseOptions } from '../../base/option-rows.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { RetryPolicy } from '../../base/time/retry.ts'
import { defaultProcessing, type GivenProcessing, processingOf } from '../../domain/draft/processing.ts'
import type { AttemptResult } from '../../domain/output.ts'
import { type ParseText, parseHere } from '../../domain/ports/parse-text.ts'
import type { Provider } from '../../domain/ports/provider.ts'
import { createRedactor, redactResult } from '../../domain/redaction/redact.ts'
import type { JsonSchema } from '../../schema/json-schema.ts'
import { isForeignSchema } from '../../schema/standard.ts'
import { isTextContract } from '../providers/structured-output/structured-plan.ts'
import { findProvider, noProvider } from './find-provider.ts'
import { generate } from './generate/generation.ts'
import { createCaller, type OnEvent } from './generate/model-caller.ts'
import { taskWords } from './generate/prompts.ts'
import type { PartialValue } from './generate/stream-watch.ts'
import type { Price } from './prices.ts'

export interface GenerateOptions {
  readonly providers: readonly Provider[]
  /** `provider/model`. */
  readonly model: string
  /** What to do. */
  readonly objective: string
  readonly schema: JsonSchema
  /** What to do it with. Default: nothing. */
  readonly inputs?: Json
  /** Additional instructions for the model. */
  readonly instructions?: string
  /** What the schema is called. Default `answer`. */
  readonly name?: string
  readonly processing?: GivenProcessing
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
  /** Streams, and shows the value while it grows. */
  readonly onPartial?: (partial: PartialValue) => void
}

const text = must((value) => typeof value === 'string', 'a text')
const count = must((value) => typeof value === 'number' && value >= 0, 'a number, 0 or more')
const anything = () => []
const isSchema = (value: unknown) =>
  typeof value === 'boolean' || (isObject(value) && !isForeignSchema(value))

const generateRows = {
  providers: each(object),
  model: name,
  objective: text,
  schema: must(isSchema, 'a JSON Schema', 'With Zod, pass z.toJSONSchema(schema)'),
  inputs: anything,
  instructions: text,
  name: text,
  processing: object,
  calls: count,
  maxTokens: count,
  maxCostUsd: count,
  prices: each(object),
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
export async function generateValue(options: GenerateOptions): Promise<AttemptResult> {
  refuseOptions('generate', withRequired(options), generateRows)
  const { providers, model, objective, schema, signal = new AbortController().signal } = options
  const provider = findProvider(providers, model)
  if (provider === undefined) return noProvider(model)
  const redactor = createRedactor({
    secrets: [...(options.secrets ?? []), ...providers.flatMap((one) => one.secrets?.() ?? [])],
  })
  const processing = processingOf(defaultProcessing, options.processing)
  const onEvent: OnEvent = (event, payload) =>
    options.onEvent?.(event, payload && (redactor.value(payload) as typeof payload))
  const { calls = 4, maxTokens, maxCostUsd, idempotencyKey = 'generate', onPartial } = options
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
  const bundle = {
    objective,
    inputs: options.inputs ?? {},
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
    rao: false,
    constrained: false,
    processing,
    target: {
      model,
      provider,
      schemaName: options.name ?? 'answer',
      maxOutputTokens: processing.maxOutputTokens,
      stream: streams ? { earlyAbort, onPartial: show } : undefined,
    },
    caller,
    signal,
    onEvent,
    parseText: options.parseText ?? parseHere,
  })
  return redactResult(result, { redactor })
}

/** Requires these options: without them, the request is meaningless. */
function withRequired(options: unknown): unknown {
  if (!isObject(options)) return options
  const { providers = null, model = null, objective = null, schema = null } = options
  return { ...options, objective, schema, providers, model }
}
