/** Opens a store with sealed secrets: with the configured keys, else with the key file beside the store, else without. */
import type { Store } from '../../domain/ports/store.ts'
import { makeKeyFile, readKeyFile } from './key-file.ts'
import { createSealedStore, createShownStore } from './sealed-store.ts'
import { createValueSeal, type SecretKey } from './value-seal.ts'

interface SealStoreOptions {
  /** Configured keys, newest first: the first encrypts, all of them decrypt. */
  readonly keys: readonly string[]
  /** Parses a key; throws if it is not one. */
  readonly readKey: (text: string) => SecretKey
  /** Only read: a missing key file is not made. Default false. */
  readonly readOnly?: boolean
  /** Called the first time that a secret is stored unencrypted. */
  readonly onClear?: () => void
}

/** By the store that an app uses, its rows for pages and streams. A second app does not seal a store again. */
const sealedStores = new WeakMap<Store, Store>()

export function sealStore(store: Store, options: SealStoreOptions): Store {
  const { keys, readKey, onClear = () => {} } = options
  // A memory store keeps nothing that could leak later.
  if (store.name === 'memory' || sealedStores.has(store)) return store
  // Configured keys are checked at once.
  for (const key of keys) readKey(key)
  const canSeal = keys.length > 0 || store.keyFile !== undefined
  const seal = canSeal ? createValueSeal(createKeyRing(store.keyFile, options)) : undefined
  const sealed = createSealedStore(store, { seal, onClear })
  sealedStores.set(sealed, seal ? createShownStore(store, seal) : store)
  return sealed
}

/** Returns the rows of a store for pages and streams, in which secrets stay sealed. */
export function shownRows(store: Store): Store {
  return sealedStores.get(store) ?? store
}

/** Returns the keys; makes the key file the first time that something is encrypted without a configured key. */
function createKeyRing(path: string | undefined, { keys, readKey, readOnly = false }: SealStoreOptions) {
  const configured = keys.map(readKey)
  let withFile: readonly SecretKey[] | undefined
  return (isSealing: boolean): readonly SecretKey[] => {
    if (path === undefined) return configured
    if (withFile !== undefined) return withFile
    const mayMake = isSealing && configured.length === 0 && !readOnly
    const text = mayMake ? makeKeyFile(path) : readKeyFile(path)
    // Another process may make the file later.
    if (text === undefined) return configured
    withFile = [...configured, readKey(text)]
    return withFile
  }
}
