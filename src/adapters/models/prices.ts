/** Prices of models, as data: dollars per million tokens. A model that is not listed has no known price. */
import type { CallUsage } from '../../domain/ports/provider.ts'
import { parseModelId } from '../providers/model-id.ts'

export interface Price {
  /** `provider/model`, which is also the price of its dated versions; a `*` at the end takes in all that begin so. */
  readonly model: string
  readonly inputPerMillion: number
  readonly outputPerMillion: number
}

/**
 * Source of the list. Prices are not fetched over the network, so they cannot be verified offline: every price or cost from
 * the list is shown with this note.
 */
export const priceList = {
  asOf: '2025-11',
  source:
    'the public price pages of OpenAI, Anthropic and Google as the authors knew them, not checked against them',
  verified: false,
  note: 'list prices as of 2025-11, check before relying',
} as const

/** List prices; `prices` of the app take precedence. The first match wins. */
export const listPrices: readonly Price[] = [
  { model: 'openai/gpt-5', inputPerMillion: 1.25, outputPerMillion: 10 },
  { model: 'openai/gpt-5-mini', inputPerMillion: 0.25, outputPerMillion: 2 },
  { model: 'openai/gpt-5-nano', inputPerMillion: 0.05, outputPerMillion: 0.4 },
  { model: 'openai/gpt-5-pro', inputPerMillion: 15, outputPerMillion: 120 },
  { model: 'openai/gpt-4.1', inputPerMillion: 2, outputPerMillion: 8 },
  { model: 'openai/gpt-4.1-mini', inputPerMillion: 0.4, outputPerMillion: 1.6 },
  { model: 'openai/gpt-4.1-nano', inputPerMillion: 0.1, outputPerMillion: 0.4 },
  { model: 'openai/gpt-4o-2024-05-13', inputPerMillion: 5, outputPerMillion: 15 },
  { model: 'openai/gpt-4o', inputPerMillion: 2.5, outputPerMillion: 10 },
  { model: 'openai/gpt-4o-mini', inputPerMillion: 0.15, outputPerMillion: 0.6 },
  { model: 'openai/o3', inputPerMillion: 2, outputPerMillion: 8 },
  { model: 'openai/o4-mini', inputPerMillion: 1.1, outputPerMillion: 4.4 },
  { model: 'anthropic/claude-opus-4-5', inputPerMillion: 5, outputPerMillion: 25 },
  { model: 'anthropic/claude-opus-4-1', inputPerMillion: 15, outputPerMillion: 75 },
  { model: 'anthropic/claude-opus-4', inputPerMillion: 15, outputPerMillion: 75 },
  { model: 'anthropic/claude-sonnet-4-5', inputPerMillion: 3, outputPerMillion: 15 },
  { model: 'anthropic/claude-sonnet-4', inputPerMillion: 3, outputPerMillion: 15 },
  { model: 'anthropic/claude-haiku-4-5', inputPerMillion: 1, outputPerMillion: 5 },
  { model: 'anthropic/claude-3-5-haiku', inputPerMillion: 0.8, outputPerMillion: 4 },
  { model: 'google/gemini-2.5-flash-lite', inputPerMillion: 0.1, outputPerMillion: 0.4 },
  { model: 'google/gemini-2.5-flash', inputPerMillion: 0.3, outputPerMillion: 2.5 },
  { model: 'google/gemini-2.0-flash', inputPerMillion: 0.1, outputPerMillion: 0.4 },
  { model: 'rehearsal/*', inputPerMillion: 0, outputPerMillion: 0 },
]

/** Price of a provider whose answers are free, for every model. */
export const nothing = { inputPerMillion: 0, outputPerMillion: 0 } as const

/** Returns the price of a model; `undefined` if it is unknown. */
export function findPrice(id: string, own: readonly Price[] = []): Price | undefined {
  return find(id, [...own, ...listPrices])
}

/** Whether the price of a model comes from the list and not from the user's `prices`; free calls need no check. */
export function isListed(id: string, own: readonly Price[] = []): boolean {
  const price = find(id, own) === undefined ? find(id, listPrices) : undefined
  return price !== undefined && price.inputPerMillion + price.outputPerMillion > 0
}

function find(id: string, prices: readonly Price[]): Price | undefined {
  const { provider, model } = parseModelId(id)
  const name = `${provider}/${model}`
  const undated = name.replace(dated, '')
  return prices.find((price) =>
    price.model.endsWith('*')
      ? name.startsWith(price.model.slice(0, -1))
      : price.model === name || price.model === undated,
  )
}

/** A version of a model by its date; other endings are other models, at prices of their own. */
const dated = /-(\d{4}-\d{2}-\d{2}|\d{8}|latest)$/

export function computeCost(usage: CallUsage, price: Price | undefined): number | undefined {
  if (price === undefined) return undefined
  const { inputTokens = 0, outputTokens = 0 } = usage
  return (inputTokens * price.inputPerMillion + outputTokens * price.outputPerMillion) / 1_000_000
}
