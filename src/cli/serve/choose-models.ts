/** Chooses the models and the planner of `proviso serve`, with the lines to print about them. */
import { findProvider, missingProviderHint, providersFromKeys } from '../../adapters/models/index.ts'
import { providerRows } from '../../adapters/providers/provider-table.ts'
import { type PlannerChoice, rehearsalProvider } from '../../app.ts'
import { ProvisoError } from '../../base/errors/error.ts'
import type { Provider } from '../../domain/ports/provider.ts'
import type { EnvConfig } from '../../env.ts'
import type { ServerSettings } from '../../pipeline/index.ts'

interface ServedModels {
  /** Absent: chosen by the keys of the environment. */
  readonly providers?: readonly Provider[]
  readonly defaultModel?: string
  /** Printed to the operator at start. */
  readonly note: string
}

/** Chooses the providers with a key in the environment; in development without a key, the rehearsal model. */
export async function chooseModels(
  env: EnvConfig,
  { dev }: { readonly dev: boolean },
): Promise<ServedModels> {
  const settings = env as { readonly [setting: string]: unknown }
  const [, found] =
    providerRows.find(
      ([name, { defaultModel }]) => defaultModel && settings[`${name}ApiKey`] !== undefined,
    ) ?? []
  const model = env.defaultModel ?? found?.defaultModel
  if (found && model !== undefined)
    return { defaultModel: model, note: `Models: ${model}, with the key for ${found.title}.` }
  if (env.compatibleBaseUrl !== undefined)
    return {
      note: `Models: the server at ${env.compatibleBaseUrl}; a node names its model as compatible/MODEL.`,
    }
  if (!dev)
    return {
      note: 'Models: none, for there is no key; set OPENAI_API_KEY, ANTHROPIC_API_KEY or GEMINI_API_KEY.',
    }
  return {
    // Models that name their own server address are still called there.
    providers: [...providersFromKeys(env), await rehearsalProvider()],
    note: 'Models: the rehearsal model, offline: it makes values that fit, not sense. A key such as OPENAI_API_KEY in the environment switches to a real one.',
  }
}

/** Chooses the planner from the settings. The rehearsal model of development mode never plans: its drafts would match the schema but make no plan. */
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
