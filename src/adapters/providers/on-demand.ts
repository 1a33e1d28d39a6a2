/** A provider whose package is loaded with its first call, so that an app starts without those it does not use. */
import type { Provider } from '../../domain/ports/provider.ts'

export interface OnDemand {
  readonly name: string
  readonly secrets: readonly string[]
  readonly load: () => Promise<Provider>
}

export function onDemand({ name, secrets, load }: OnDemand): Provider {
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
