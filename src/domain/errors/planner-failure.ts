/** Why a planner model returned no draft after all allowed attempts. */
import { ProvisoError } from '../../base/errors/error.ts'
import type { Json } from '../../base/json.ts'

export interface PlannerFailure {
  readonly outcome: 'throttled' | 'unavailable'
  readonly provider: string
  readonly model: string
  readonly tries: number
}

/** The error that a planner throws; the engine reads the failure from its cause. */
export function plannerError(message: string, failure: PlannerFailure): ProvisoError {
  return new ProvisoError(`planner/${failure.outcome}`, message, { cause: failure })
}

export function plannerFailureIn(error: unknown): PlannerFailure | undefined {
  const isKnown =
    error instanceof ProvisoError &&
    (error.code === 'planner/throttled' || error.code === 'planner/unavailable')
  return isKnown ? asPlannerFailure(error.cause as Json | undefined) : undefined
}

/** The same from the details of a diagnostic. */
export function asPlannerFailure(details: Json | undefined): PlannerFailure | undefined {
  const { outcome, provider, model, tries } = (details ?? {}) as { readonly [name: string]: Json }
  if (outcome !== 'throttled' && outcome !== 'unavailable') return undefined
  if (typeof provider !== 'string' || typeof model !== 'string' || typeof tries !== 'number') return undefined
  return { outcome, provider, model, tries }
}
