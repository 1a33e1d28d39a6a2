/** Chooses the models of a server: the providers with a key in the environment; in development without a key, the rehearsal model. */
import { providersFromKeys } from '../../adapters/models/index.ts'
import { providerRows } from '../../adapters/providers/provider-table.ts'
import { rehearsalProvider } from '../../app.ts'
import type { Provider } from '../../domain/ports/provider.ts'
import type { EnvConfig } from '../../env.ts'

interface ServedModels {
  /** Absent: chosen by the keys of the environment. */
  readonly providers?: readonly Provider[]
  readonly defaultModel?: string
  /** Printed to the operator at start. */
  readonly note: string
}

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
