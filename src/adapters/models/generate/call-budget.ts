/**
 * Decides whether a budget allows one more call, how much is reserved for it, and the maximum length of its answer. The
 * reservation is an upper bound: the prompt by its bytes, the answer by the limit sent to the provider. So a call never
 * exceeds the budget in any language; the unused part is released once the provider has reported usage.
 */
import type { Issue } from '../../../base/errors/issue.ts'
import type { Usage } from '../../../domain/output.ts'
import type { CallUsage } from '../../../domain/ports/provider.ts'
import type { Price } from '../prices.ts'
import type { Words } from './prompts.ts'

// The most tokens that texts can take: a bound for budgets.

/** At most: tokenizers take a byte of UTF-8 or more for every token, in whatever language. */
export function mostTokens(text: string): number {
  return Buffer.byteLength(text)
}

/** What a chat takes around its two messages, at most. */
const framing = 16

export interface Budget {
  readonly calls: number
  readonly tokens?: number
  readonly costUsd?: number
}

export interface Wanted {
  readonly words: Words
  /** Tokens in addition to the words, such as the schema. */
  readonly beside: number
  readonly price: Price | undefined
  /** Requested maximum length of the answer. */
  readonly maxOutputTokens?: number | undefined
}

/** What a call may use; absent where nothing limits it. */
export interface Allowed {
  readonly most?: Required<Pick<CallUsage, 'inputTokens' | 'outputTokens'>>
}

/** Providers refuse shorter answers. */
const shortestAnswer = 16

export function isLimited({ tokens, costUsd }: Budget): boolean {
  return tokens !== undefined || costUsd !== undefined
}

export function allowance(budget: Budget, spent: Usage, wanted: Wanted): Allowed | Issue {
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
