/** Collects every secret that an app knows at startup, so that they are redacted. */
import { secretsOf } from '../adapters/executors/model.ts'
import type { AppOptions } from '../app-options.ts'
import { endpointSecrets } from '../domain/capability/endpoint.ts'
import type { Provider } from '../domain/ports/provider.ts'
import { isKeyLike, secretsIn } from '../domain/redaction/redact.ts'
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

/** Extracts the password from the address of a store. */
function passwordIn(store: AppOptions['store']): string[] {
  const [, password] = (typeof store === 'string' && /:\/\/[^\s/:@]*:([^@]+)@/.exec(store)) || []
  return password === undefined ? [] : [password]
}
