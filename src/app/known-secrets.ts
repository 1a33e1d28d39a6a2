/** Every secret that an app knows from the start, so that none of them leaves or is stored. */
import { secretsOf } from '../adapters/dispatchers/model.ts'
import type { AppOptions } from '../app-options.ts'
import { endpointSecrets } from '../domain/endpoint.ts'
import type { Provider } from '../domain/ports/provider.ts'
import { isKeyLike, secretsIn } from '../domain/redact.ts'
import type { EnvConfig } from '../env.ts'

export function knownSecrets(
  { secrets = [], capabilities = [], http, store }: AppOptions,
  { env, providers }: { readonly env: EnvConfig; readonly providers: readonly Provider[] },
): readonly string[] {
  return [
    ...secrets,
    ...(env.secrets ?? []),
    ...secretsOf(providers),
    ...(http?.secretKeys ?? []),
    ...Object.values(http?.agents ?? {}).flatMap(endpointSecrets),
    ...capabilities.flatMap(({ capability }) => secretsIn(capability.settings).filter(isKeyLike)),
    ...passwordIn(store),
  ]
}

/** The password in the address of a store. */
function passwordIn(store: AppOptions['store']): string[] {
  const [, password] = (typeof store === 'string' && /:\/\/[^\s/:@]*:([^@]+)@/.exec(store)) || []
  return password === undefined ? [] : [password]
}
