/** Seals the secrets of runs in the store of an app, with the keys that seal the secrets of agents. */
import { sealStore, shownRows } from '../adapters/sealing/seal-store.ts'
import type { AppOptions } from '../app-options.ts'
import type { Store } from '../domain/ports/store.ts'
import { type EnvConfig, envNames } from '../env.ts'
import { readSecretKey } from '../server/agents/agents.ts'
import { readSecretKeys } from './wire-agents.ts'

export function sealSecrets(store: Store, { http }: Pick<AppOptions, 'http'>, env: EnvConfig): Store {
  return sealStore(store, {
    keys: http?.secretKeys ?? readSecretKeys(env),
    readKey: readSecretKey,
    onClear: warnClear,
  })
}

/** Opens what an app has sealed, for commands that only read. Nothing is sealed and no key file is made. */
export function openSealed(store: Store, env: EnvConfig): Store {
  return sealStore(store, { keys: readSecretKeys(env), readKey: readSecretKey, readOnly: true })
}

/** The same for commands that print what they read. */
export function openShown(store: Store, env: EnvConfig): Store {
  return shownRows(openSealed(store, env))
}

export { shownRows }

function warnClear(): void {
  process.emitWarning(
    `A run has secrets, and they are stored unencrypted: ${envNames.secretKey[0]} is not set and this store has no place for a key`,
    {
      type: 'ProvisoWarning',
      code: 'store/clear-secrets',
      detail: `Generate a key with \`openssl rand -hex 32\`, and set ${envNames.secretKey[0]} to it in every process of the store`,
    },
  )
}
