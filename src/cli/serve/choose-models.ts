/** Chooses the models and the planner of `proviso serve`, with the lines to print about them. */
import { createRequire } from 'node:module'
import { findProvider, missingProviderHint, providersFromKeys } from '../../adapters/models/index.ts'
import { providerRows, providerTable } from '../../adapters/providers/provider-table.ts'
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
  if (found && model !== undefined) {
    const note = `Models: ${model}, with the key for ${found.title}.`
    return { defaultModel: model, note: `${note}${installNote(found.package)}` }
  }
  if (env.compatibleBaseUrl !== undefined) {
    const note = `Models: the server at ${env.compatibleBaseUrl}; a node names its model as compatible/MODEL.`
    return { note: `${note}${installNote(providerTable.compatible.package)}` }
  }
  if (!dev)
    return {
      note: 'Models: none, because no API key is set; set OPENAI_API_KEY, ANTHROPIC_API_KEY or GEMINI_API_KEY.',
    }
  return {
    // Models that name their own server address are still called there.
    providers: [...providersFromKeys(env), await rehearsalProvider()],
    note: 'Models: the rehearsal model, offline: it makes values that fit, not sense. A key such as OPENAI_API_KEY in the environment switches to a real one.',
  }
}

/** Returns the install command of a package that is missing: calls would fail without it, later and one by one. */
function installNote(wanted: string | undefined): string {
  if (wanted === undefined) return ''
  const name = wanted.slice(0, wanted.lastIndexOf('@'))
  try {
    createRequire(import.meta.url).resolve(name)
    return ''
  } catch {
    return ` They cannot be called yet: run \`npm install ${wanted}\`.`
  }
}

/** Chooses the planner from the settings. The rehearsal model of development mode never plans: its drafts would match the schema but make no plan. */
export function chooseServedPlanner(
  planner: ServerSettings['planner'],
  { providers, defaultModel }: { readonly providers: readonly Provider[]; readonly defaultModel: string },
): { readonly planner: PlannerChoice; readonly note: string } {
  const { mode, model = defaultModel, timeoutMs, maxCapabilities } = planner
  if (mode === 'search') return { planner: { mode }, note: 'Planner: search.' }
  if (findProvider(providers, model) === undefined) {
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
