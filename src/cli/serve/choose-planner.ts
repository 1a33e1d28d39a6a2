/** Chooses the planner of `proviso serve`, and the line to print about it. */
import { findProvider, missingProviderHint, providersFromKeys } from '../../adapters/models/index.ts'
import type { PlannerChoice } from '../../app.ts'
import { ProvisoError } from '../../base/errors/error.ts'
import type { EnvConfig } from '../../env.ts'
import type { ServerSettings } from '../../pipeline/index.ts'

/** The rehearsal model of development mode never plans: its drafts would match the schema but make no plan. */
export function chooseServedPlanner(
  planner: ServerSettings['planner'],
  { env, defaultModel }: { readonly env: EnvConfig; readonly defaultModel: string },
): { readonly planner: PlannerChoice; readonly note: string } {
  const { mode, model = defaultModel, timeoutMs, maxCapabilities } = planner
  if (mode === 'search') return { planner: { mode }, note: 'Planner: search.' }
  if (findProvider(providersFromKeys(env), model) === undefined) {
    const hint = missingProviderHint(model)
    if (mode === 'model')
      throw new ProvisoError('option/invalid', `Cannot plan with the model "${model}": it has no provider`, {
        hint: `${hint}, or choose --planner search`,
      })
    const note = `Planner: search, because the model ${model} has no provider. ${hint}.`
    return { planner: { mode: 'search' }, note }
  }
  const limits = `timeout ${timeoutMs} ms, at most ${maxCapabilities} capabilities in its prompt`
  return {
    planner: { mode, model, timeoutMs, maxCapabilities },
    note:
      mode === 'auto'
        ? `Planner: auto (${model} first, then search; ${limits}).`
        : `Planner: model (${model}, no search behind it; ${limits}).`,
  }
}
