/** Whether a budget allows one more call, and how long its answer may then be. */
import type { Issue } from '../../base/issue.ts'
import { roughTokens } from '../../base/rough-tokens.ts'
import type { Usage } from '../../domain/output.ts'
import type { Price } from './prices.ts'
import type { Words } from './prompts.ts'

export interface Budget {
  readonly calls: number
  readonly tokens?: number
  readonly costUsd?: number
}

export interface Wanted {
  readonly words: Words
  readonly price: Price | undefined
}

/** `most`: the longest answer in tokens; absent where nothing limits it. */
export function allowance(
  budget: Budget,
  spent: Usage,
  { words, price }: Wanted,
): { readonly most?: number } | Issue {
  if (spent.calls >= budget.calls) return exhausted('calls')
  const prompt = roughTokens(words.system) + roughTokens(words.prompt)
  const limits: number[] = []
  if (budget.tokens !== undefined)
    limits.push(budget.tokens - (spent.inputTokens ?? 0) - (spent.outputTokens ?? 0) - prompt)
  if (budget.costUsd !== undefined) {
    if (price === undefined) return unknownPrice
    limits.push(affordable(budget.costUsd - (spent.costUsd ?? 0), prompt, price))
  }
  if (limits.length === 0) return {}
  const most = Math.min(...limits)
  return most < 1 ? exhausted(budget.costUsd === undefined ? 'tokens' : 'tokens or dollars') : { most }
}

/** How many tokens of an answer the rest of the money buys, once the prompt is paid for. */
function affordable(dollars: number, prompt: number, price: Price): number {
  const left = dollars * 1_000_000 - prompt * price.inputPerMillion
  if (price.outputPerMillion === 0) return left < 0 ? 0 : Number.MAX_SAFE_INTEGER
  return Math.floor(left / price.outputPerMillion)
}

function exhausted(what: string): Issue {
  return {
    code: 'budget/exhausted',
    at: { pointer: '' },
    message: `The budget of ${what} does not allow another call`,
    hint: 'Raise the limit, or ask for less',
  }
}

const unknownPrice: Issue = {
  code: 'budget/unknown-price',
  at: { pointer: '' },
  message: 'There is a limit of cost, but the price of the model is unknown',
  hint: 'Give its price in `prices`, or limit tokens instead',
}
