/**
 * Whether a budget allows one more call, what is set aside for it, and how long its answer may then be. What is set aside
 * is a bound and no guess: the prompt by its bytes, the answer by what the provider is told. So a call never passes the
 * budget, whatever the language; what it did not need is free again once the provider has counted.
 */
import type { Issue } from '../../base/issue.ts'
import type { Usage } from '../../domain/output.ts'
import type { CallUsage } from '../../domain/ports/provider.ts'
import type { Price } from './prices.ts'
import type { Words } from './prompts.ts'
import { framing, mostTokens } from './tokens.ts'

export interface Budget {
  readonly calls: number
  readonly tokens?: number
  readonly costUsd?: number
}

export interface Wanted {
  readonly words: Words
  /** Tokens that go along beside the words, such as the schema. */
  readonly beside: number
  readonly price: Price | undefined
  /** The longest answer that is wanted. */
  readonly maxOutputTokens?: number | undefined
}

/** What a call may take; absent where nothing limits it. */
export interface Allowed {
  readonly most?: Required<Pick<CallUsage, 'inputTokens' | 'outputTokens'>>
}

/** Shorter answers are refused by providers, and say nothing. */
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

/** How many tokens of an answer the rest of the money buys, once the prompt is paid for. */
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
    hint: 'Raise the limit, or ask for less; a prompt is set aside with one token for each of its bytes',
  }
}

const unknownPrice: Issue = {
  code: 'budget/unknown-price',
  at: { pointer: '' },
  message: 'There is a limit of cost, but the price of the model is unknown',
  hint: 'Give its price in `prices`, or limit tokens instead',
}
