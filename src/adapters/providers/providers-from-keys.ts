/** The providers for which the environment has a key or an address, each loaded with its first call. */
import type { Provider } from '../../domain/ports/provider.ts'
import { type Keys, providerRows } from './provider-table.ts'

export type { Keys } from './provider-table.ts'

export function providersFromKeys(keys: Keys): readonly Provider[] {
  const settings = keys as { readonly [setting: string]: string | undefined }
  return providerRows.flatMap(([name, { isKeyless = false, load }]) => {
    const apiKey = settings[`${name}ApiKey`]
    const baseURL = settings[`${name}BaseUrl`]
    if (apiKey === undefined && !isKeyless) return []
    const access = { ...(apiKey !== undefined && { apiKey }), ...(baseURL !== undefined && { baseURL }) }
    return [loadOnDemand({ name, secrets: apiKey === undefined ? [] : [apiKey], load: () => load(access) })]
  })
}

/** A provider whose package is loaded with its first call, so that an app starts without those it does not use. */
interface OnDemand {
  readonly name: string
  readonly secrets: readonly string[]
  readonly load: () => Promise<Provider>
}

function loadOnDemand({ name, secrets, load }: OnDemand): Provider {
  let loading: Promise<Provider> | undefined
  return {
    name,
    secrets: () => secrets,
    async structured(request) {
      loading ??= load()
      return (await loading).structured?.(request) ?? { kind: 'skipped', reason: `${name} has no JSON mode` }
    },
    async generate(request) {
      loading ??= load()
      return (await loading).generate(request)
    },
  }
}
