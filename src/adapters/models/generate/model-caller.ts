/**
 * Makes the model calls of one attempt and tracks the budget, usage and structured output. Every model call of the package
 * goes through here, and every prompt through the redactor.
 */
import type { Issue } from '../../../base/errors/issue.ts'
import type { Json } from '../../../base/json.ts'
import { roughTokens } from '../../../base/rough-tokens.ts'
import type { Retries, RetryOptions } from '../../../base/time/retry.ts'
import { createCallRetries } from '../../../domain/attempt/call-retries.ts'
import type { TakenFile } from '../../../domain/content/file-value.ts'
import type { Processing } from '../../../domain/draft/processing.ts'
import { addUsage, type Usage } from '../../../domain/output.ts'
import {
  type CallUsage,
  type ModelAnswer,
  type Provider,
  toRetryableFailure,
  wasGenerated,
} from '../../../domain/ports/provider.ts'
import type { Trace } from '../../../domain/ports/trace.ts'
import type { Redactor } from '../../../domain/redaction/redact.ts'
import type { ModelSettings } from '../../../domain/settings/model-settings.ts'
import { schemaHash } from '../../../schema/hash.ts'
import { parseModelId } from '../../providers/model-id.ts'
import { isWhole } from '../../providers/structured-output/structured-plan.ts'
import { computeCost, findPrice, nothing, type Price } from '../prices.ts'
import { type Words, withoutSchema } from './prompts.ts'
import { type CallOptions, sendRequest } from './send-request.ts'

export type OnEvent = (event: string, payload?: { readonly [key: string]: Json }) => void

interface CallerOptions {
  readonly budget: Budget
  readonly redactor: Redactor
  readonly prices: readonly Price[]
  readonly idempotencyKey: string
  readonly trace?: Trace | undefined
  readonly signal: AbortSignal
  readonly onEvent: OnEvent
  readonly onUsage?: ((usage: Usage) => void) | undefined
  /** Clock, randomness and deadline for retries of throttled or undelivered calls. */
  readonly retry?: Omit<RetryOptions, 'signal' | 'onRetry'>
}

type Called =
  | {
      readonly kind: 'answer'
      readonly answer: ModelAnswer
      readonly doomed?: readonly Issue[]
      /** The system text as it was sent. */
      readonly system: string
    }
  /** The budget does not allow the call. */
  | { readonly kind: 'refused'; readonly issue: Issue }

export interface Caller {
  /** Number of calls left. */
  left(): number
  spent(): Usage
  call(options: CallOptions): Promise<Called>
}

export function createCaller(options: CallerOptions): Caller {
  const { budget, redactor, prices, onEvent } = options
  let spent: Usage = { calls: 0 }
  let asked = 0
  let unknownCost = false
  /** Providers whose retries in this attempt are exhausted: they are not called again. */
  const turnedAway = new Map<Provider, ModelAnswer>()
  const retriesFor = createRetriesByProvider(options)
  const reportWarnings = createWarningReporter(onEvent)

  return {
    left: () => Math.max(budget.calls - spent.calls, 0),
    spent: () => (unknownCost ? withoutCost(spent) : spent),
    async call(given) {
      const refused = turnedAway.get(given.provider)
      const { system, spare } = await chooseWords(given)
      const words = { system: redactor.text(system), prompt: redactor.text(given.prompt) }
      if (refused) return { kind: 'answer', answer: refused, system: words.system }
      const price = given.provider.free ? { model: given.model, ...nothing } : findPrice(given.model, prices)
      const { maxOutputTokens } = given
      const beside = isLimited(budget) ? (await tokensBeside(given)) + mostTokens(spare ?? '') : 0
      const allowed = allowance(budget, spent, { words, beside, price, maxOutputTokens })
      if ('code' in allowed) return { kind: 'refused', issue: allowed }
      const most = allowed.most?.outputTokens ?? maxOutputTokens
      const key = `${options.idempotencyKey}:${++asked}`
      const send = async () => {
        // Reported before it is sent: an interrupted call counts, and may have used its whole reservation.
        options.onUsage?.(addUsage(spent, { calls: 1, ...priced(allowed.most ?? {}, price) }))
        const sent = await sendRequest(
          { ...given, ...words, ...(spare !== undefined && { spareWords: redactor.text(spare) }) },
          { key, most, trace: options.trace, signal: options.signal },
        )
        if (!wasGenerated(sent.answer)) options.onUsage?.(unknownCost ? withoutCost(spent) : spent)
        return sent
      }
      const last = await retriesFor(given.provider).run(send, (sent) => toRetryableFailure(sent.answer))
      const { doomed } = last
      const isStopped = toRetryableFailure(last.answer) !== undefined && options.signal.aborted
      const answer: ModelAnswer = isStopped
        ? { kind: 'cancelled', message: 'The call was cancelled' }
        : last.answer
      if (toRetryableFailure(answer)) turnedAway.set(given.provider, answer)
      reportStructured(onEvent, given, answer)
      reportWarnings(given.model, answer)
      if (!isStopped && wasGenerated(answer)) {
        const usage = priced(counted(answer, words, allowed), price)
        unknownCost ||= usage.costUsd === undefined
        spent = addUsage(spent, { calls: 1, ...usage })
      }
      options.onUsage?.(unknownCost ? withoutCost(spent) : spent)
      return { kind: 'answer', answer, system: words.system, ...(doomed && { doomed }) }
    },
  }
}

/**
 * The system text for a provider: without the schema if it enforces all of it. `spare` then has the words for a server that
 * turns out to refuse that. Words without `schemaWords` are sent as they are.
 */
async function chooseWords(
  given: CallOptions,
): Promise<{ readonly system: string; readonly spare?: string }> {
  const { system, schemaWords } = given
  if (!schemaWords || !(await isEnforced(given))) return { system }
  return { system: withoutSchema({ system, schemaWords }), spare: schemaWords.stated }
}

/** Whether the provider holds the answer to the whole schema. */
export async function isEnforced(given: Omit<CallOptions, keyof Words>): Promise<boolean> {
  const { provider, model, schema, structured = 'off', tools, toolChoice } = given
  if (structured === 'off' || schema === undefined) return false
  const request = {
    ...{ model: parseModelId(model).model, schema, structured },
    ...(tools && { tools }),
    ...(toolChoice !== undefined && { toolChoice }),
  }
  return isWhole(await provider.structured?.(request))
}

/** The longest answer that settings and processing allow; the smaller counts. */
export function mostOutputTokens(
  settings: ModelSettings | undefined,
  processing: Pick<Processing, 'maxOutputTokens'>,
): number | undefined {
  const given = [settings?.maxOutputTokens, processing.maxOutputTokens].filter((most) => most !== undefined)
  return given.length > 0 ? Math.min(...given) : undefined
}

/** All calls of an attempt to one provider share its retries; a precheck with another provider has its own. */
function createRetriesByProvider({ retry, signal, onEvent }: CallerOptions) {
  const made = new Map<Provider, Retries>()
  return (provider: Provider): Retries => {
    const retries = made.get(provider) ?? createCallRetries({ ...retry, signal, onEvent })
    made.set(provider, retries)
    return retries
  }
}

/** Reports each setting that a provider did not use as it was given, once per attempt. */
function createWarningReporter(onEvent: OnEvent): (model: string, answer: ModelAnswer) => void {
  const reported = new Set<string>()
  return (model, { warnings = [] }) => {
    for (const { setting, message } of warnings) {
      const key = `${model} ${setting} ${message}`
      if (reported.has(key)) continue
      reported.add(key)
      onEvent('model.setting_ignored', { model, setting, message })
    }
  }
}

/** Reports how the structured output intent was applied, for every call that had one (AROS-10, 52, 53). */
function reportStructured(
  onEvent: OnEvent,
  { structured = 'off', schema, schemaName }: CallOptions,
  answer: ModelAnswer,
): void {
  if (structured === 'off' || schema === undefined) return
  const outcome = answer.structured ?? { kind: 'skipped', reason: 'the provider has no JSON mode' }
  const base = { mode: structured, schema_hash: schemaHash(schema) }
  if (outcome.kind === 'skipped') {
    onEvent('aros.soe.skipped', { ...base, reason: outcome.reason })
    return
  }
  const { as, weakened } = outcome
  onEvent('aros.soe.enabled', { ...base, applied: as, weakened })
  onEvent('grammar.applied', {
    ...base,
    applied: as,
    ...(schemaName !== undefined && { schema_name: schemaName }),
  })
}

/**
 * Returns the usage that the provider reported. Without a report: the whole reservation under a limit, because it may have
 * been used (reasoning is not visible); otherwise a rough estimate.
 */
function counted(answer: ModelAnswer, { system, prompt }: Words, { most }: Allowed): CallUsage {
  const usage = 'usage' in answer ? (answer.usage ?? {}) : {}
  const said = 'text' in answer ? (answer.text ?? '') : ''
  return {
    ...usage,
    inputTokens: usage.inputTokens ?? most?.inputTokens ?? roughTokens(system) + roughTokens(prompt),
    outputTokens: usage.outputTokens ?? most?.outputTokens ?? roughTokens(said),
  }
}

/** Most tokens that providers count for an image of any size; other files count by their data. */
const mostImageTokens = 16_384

function addFileTokens(sum: number, { mediaType, data }: TakenFile): number {
  return sum + (mediaType.startsWith('image/') ? Math.min(data.length, mostImageTokens) : data.length)
}

/** Returns the tokens that the provider sends in addition to the words. */
async function tokensBeside({
  provider,
  model,
  schema,
  structured = 'off',
  tools,
  files = [],
}: CallOptions): Promise<number> {
  const ofTools = (tools ? mostTokens(JSON.stringify(tools)) : 0) + files.reduce(addFileTokens, 0)
  if (structured === 'off' || schema === undefined) return ofTools
  const outcome = await provider.structured?.({ model: parseModelId(model).model, schema, structured })
  return ofTools + (outcome?.kind === 'applied' ? (outcome.bytes ?? 0) : 0)
}

function priced(usage: CallUsage, price: Price | undefined): CallUsage {
  const cost = computeCost(usage, price)
  return cost === undefined ? usage : { ...usage, costUsd: cost }
}

/** A sum of which a part is unknown is unknown. */
function withoutCost({ costUsd: _, ...usage }: Usage): Usage {
  return usage
}

/*
 * Decides whether a budget allows one more call, how much is reserved for it, and the maximum length of its answer. The
 * reservation is an upper bound: the prompt by its bytes, the answer by the limit sent to the provider. So a call never
 * exceeds the budget in any language; the unused part is released once the provider has reported usage.
 */

/** At most: tokenizers take a byte of UTF-8 or more for every token, in whatever language. */
export function mostTokens(text: string): number {
  return Buffer.byteLength(text)
}

/** What a chat takes around its two messages, at most. */
const framing = 16

interface Budget {
  readonly calls: number
  readonly tokens?: number | undefined
  readonly costUsd?: number | undefined
}

interface Wanted {
  readonly words: Words
  /** Tokens in addition to the words, such as the schema. */
  readonly beside: number
  readonly price: Price | undefined
  /** Requested maximum length of the answer. */
  readonly maxOutputTokens?: number | undefined
}

/** What a call may use; absent where nothing limits it. */
interface Allowed {
  readonly most?: Required<Pick<CallUsage, 'inputTokens' | 'outputTokens'>>
}

/** Providers refuse shorter answers. */
const shortestAnswer = 16

function isLimited({ tokens, costUsd }: Budget): boolean {
  return tokens !== undefined || costUsd !== undefined
}

function allowance(budget: Budget, spent: Usage, wanted: Wanted): Allowed | Issue {
  if (spent.calls >= budget.calls) return exhausted('calls', `all ${budget.calls} are used`)
  const { words, beside, price, maxOutputTokens } = wanted
  const prompt = mostTokens(words.system) + mostTokens(words.prompt) + framing + beside
  const limits: number[] = maxOutputTokens === undefined ? [] : [maxOutputTokens]
  if (budget.tokens !== undefined)
    limits.push(budget.tokens - (spent.inputTokens ?? 0) - (spent.outputTokens ?? 0) - prompt)
  if (budget.costUsd !== undefined) {
    if (price === undefined) return unknownPrice
    limits.push(affordable(budget.costUsd - (spent.costUsd ?? 0), prompt, price))
  }
  if (!isLimited(budget)) return {}
  const outputTokens = Math.min(...limits)
  const enough = Math.min(shortestAnswer, maxOutputTokens ?? shortestAnswer)
  if (outputTokens >= enough) return { most: { inputTokens: prompt, outputTokens } }
  const most = `an answer could have ${Math.max(Math.floor(outputTokens), 0)} tokens, and ${enough} are the least`
  return exhausted(budget.costUsd === undefined ? 'tokens' : 'tokens or dollars', most)
}

/** Returns how many answer tokens the remaining money buys after the prompt is paid. */
function affordable(dollars: number, prompt: number, price: Price): number {
  const left = dollars * 1_000_000 - prompt * price.inputPerMillion
  if (price.outputPerMillion === 0) return left < 0 ? 0 : Number.MAX_SAFE_INTEGER
  return Math.floor(left / price.outputPerMillion)
}

function exhausted(what: string, why: string): Issue {
  return {
    code: 'budget/exhausted',
    at: { pointer: '' },
    message: `The budget of ${what} does not allow another call: ${why}`,
    hint: 'Raise the limit, or shorten the prompt; one token is reserved for each of its bytes',
  }
}

const unknownPrice: Issue = {
  code: 'budget/unknown-price',
  at: { pointer: '' },
  message: 'A cost limit is set, but the price of the model is unknown',
  hint: 'Add its price to `prices`, or limit tokens instead',
}
