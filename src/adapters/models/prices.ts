/** What models cost, as data: dollars for a million tokens. A model that is not here has no price, and that is said. */
import type { CallUsage } from '../../domain/ports/provider.ts'
import { parseModelId } from '../providers/model-id.ts'

export interface Price {
  /** `provider/model`; a `*` at the end takes in all that begin so. */
  readonly model: string
  readonly inputPerMillion: number
  readonly outputPerMillion: number
}

/** List prices as published by the providers in 2025; `prices` of the app comes before them. The first match counts. */
export const listPrices: readonly Price[] = [
  { model: 'openai/gpt-5-nano*', inputPerMillion: 0.05, outputPerMillion: 0.4 },
  { model: 'openai/gpt-5-mini*', inputPerMillion: 0.25, outputPerMillion: 2 },
  { model: 'openai/gpt-5-pro*', inputPerMillion: 15, outputPerMillion: 120 },
  { model: 'openai/gpt-5', inputPerMillion: 1.25, outputPerMillion: 10 },
  { model: 'openai/gpt-5-2025*', inputPerMillion: 1.25, outputPerMillion: 10 },
  { model: 'openai/gpt-4.1-nano*', inputPerMillion: 0.1, outputPerMillion: 0.4 },
  { model: 'openai/gpt-4.1-mini*', inputPerMillion: 0.4, outputPerMillion: 1.6 },
  { model: 'openai/gpt-4.1*', inputPerMillion: 2, outputPerMillion: 8 },
  { model: 'openai/gpt-4o-mini*', inputPerMillion: 0.15, outputPerMillion: 0.6 },
  { model: 'openai/gpt-4o', inputPerMillion: 2.5, outputPerMillion: 10 },
  { model: 'openai/gpt-4o-2024*', inputPerMillion: 2.5, outputPerMillion: 10 },
  { model: 'openai/o3', inputPerMillion: 2, outputPerMillion: 8 },
  { model: 'openai/o4-mini*', inputPerMillion: 1.1, outputPerMillion: 4.4 },
  { model: 'anthropic/claude-opus-4-5*', inputPerMillion: 5, outputPerMillion: 25 },
  { model: 'anthropic/claude-opus-4*', inputPerMillion: 15, outputPerMillion: 75 },
  { model: 'anthropic/claude-sonnet-4*', inputPerMillion: 3, outputPerMillion: 15 },
  { model: 'anthropic/claude-haiku-4-5*', inputPerMillion: 1, outputPerMillion: 5 },
  { model: 'anthropic/claude-3-5-haiku*', inputPerMillion: 0.8, outputPerMillion: 4 },
  { model: 'google/gemini-2.5-flash-lite*', inputPerMillion: 0.1, outputPerMillion: 0.4 },
  { model: 'google/gemini-2.5-flash*', inputPerMillion: 0.3, outputPerMillion: 2.5 },
  { model: 'google/gemini-2.0-flash', inputPerMillion: 0.1, outputPerMillion: 0.4 },
  { model: 'rehearsal/*', inputPerMillion: 0, outputPerMillion: 0 },
]

/** The price of a model; `undefined` says that nobody knows it. */
export function priceOf(id: string, own: readonly Price[] = []): Price | undefined {
  const { provider, model } = parseModelId(id)
  const name = `${provider}/${model}`
  return [...own, ...listPrices].find((price) =>
    price.model.endsWith('*') ? name.startsWith(price.model.slice(0, -1)) : price.model === name,
  )
}

export function costOf(usage: CallUsage, price: Price | undefined): number | undefined {
  if (price === undefined) return undefined
  const { inputTokens = 0, outputTokens = 0 } = usage
  return (inputTokens * price.inputPerMillion + outputTokens * price.outputPerMillion) / 1_000_000
}
