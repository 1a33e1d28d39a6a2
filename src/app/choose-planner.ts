/** Creates the planner that the options select. A model without a provider is an error, or under `auto` falls back to the search. */
import {
  findProvider,
  missingProviderHint,
  type Price,
  parseModelId,
  priceOf,
} from '../adapters/models/index.ts'
import type { PlannerChoice } from '../app-options.ts'
import { ProvisoError } from '../base/errors/error.ts'
import type { RetrySource } from '../base/time/retry.ts'
import type { Planner } from '../domain/ports/planner.ts'
import type { Provider } from '../domain/ports/provider.ts'
import type { Redactor } from '../domain/redaction/redact.ts'
import { modelPlanner, searchPlanner } from '../plan/index.ts'

export interface PlannerContext {
  readonly providers: readonly Provider[]
  readonly defaultModel: string
  readonly prices: readonly Price[]
  readonly redactor: Redactor
  /** Clock and randomness for retries. */
  readonly retrying: RetrySource
}

export function choosePlanner(
  given: Planner | PlannerChoice | undefined,
  { providers, defaultModel, prices, redactor, retrying }: PlannerContext,
): Planner {
  if (given === undefined) return searchPlanner()
  if ('draft' in given) return given
  const { mode, model: id = defaultModel, timeoutMs, maxCapabilities } = given
  if (mode === 'search') return searchPlanner()
  const provider = findProvider(providers, id)
  if (provider === undefined) {
    if (mode === 'auto') return searchPlanner()
    throw new ProvisoError('option/invalid', `Cannot plan with the model "${id}": it has no provider`, {
      hint: `${missingProviderHint(id)}, or set the planner to search`,
    })
  }
  const price = priceOf(id, prices)
  return modelPlanner({
    provider,
    model: parseModelId(id).model,
    redactor,
    ...retrying,
    fallback: mode === 'auto',
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(maxCapabilities !== undefined && { mostCapabilities: maxCapabilities }),
    ...(price && { price }),
  })
}
