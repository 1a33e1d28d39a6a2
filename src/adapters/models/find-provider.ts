/** Finds the provider of a model: by name, or one that serves every model. */

import type { AttemptResult } from '../../domain/output.ts'
import type { Provider } from '../../domain/ports/provider.ts'
import { parseModelId } from '../providers/model-id.ts'
import { providerRows } from '../providers/provider-table.ts'

// Ends an attempt whose model has no provider here: at once, with the missing setting.

const rows = new Map(providerRows)

/** Returns what to set so that a model can be called. */
export function missingProviderHint(model: string): string {
  const { provider } = parseModelId(model)
  const row = rows.get(provider)
  // The last variable is the vendor's own.
  const setting = row?.isKeyless ? undefined : row?.apiKey.at(-1)
  return setting === undefined
    ? `Pass a provider named "${provider}" in \`providers\`, or name a model of one that is there`
    : `Set ${setting}, or pass a provider named "${provider}" in \`providers\``
}

export function noProvider(model: string): AttemptResult {
  const { provider } = parseModelId(model)
  return {
    outcome: 'provider_error',
    issues: [
      {
        code: 'model/no-provider',
        at: { pointer: '' },
        message: `No provider for the model "${model}" is registered: no provider has the name "${provider}"`,
        hint: `${missingProviderHint(model)}; rehearsal() of proviso/testing needs no key`,
      },
    ],
    usage: { calls: 0 },
    model,
    notApplied: true,
    final: true,
  }
}

export function findProvider(providers: readonly Provider[], model: string): Provider | undefined {
  const { provider } = parseModelId(model)
  return providers.find(({ name }) => name === provider) ?? providers.find(({ name }) => name === '*')
}
