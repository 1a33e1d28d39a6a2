/** Opens a store with sealed secrets: with the configured keys, else with the key file beside the store, else without. */
import { randomBytes } from 'node:crypto'
import { closeSync, fsyncSync, linkSync, openSync, readFileSync, unlinkSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Store } from '../../domain/ports/store.ts'
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
export function createKeyRing(
  path: string | undefined,
  { keys, readKey, readOnly = false }: Pick<SealStoreOptions, 'keys' | 'readKey' | 'readOnly'>,
): (isSealing: boolean) => readonly SecretKey[] {
  const configured = keys.map(readKey)
  let withFile: readonly SecretKey[] | undefined
  return (isSealing) => {
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

/**
 * Reads the key file of a SQLite store, as hex; undefined if there is none. It is for servers without a configured key: made
 * beside the database when the first secret is stored, readable by its owner only. It protects copies of the database
 * (backups, dumps), not the whole disk.
 */
export function readKeyFile(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/**
 * Makes the file and syncs it before anything is encrypted with its key; returns the key of a file that exists already. The
 * file appears whole (written under another name, then linked), so that a crash leaves no half of a key.
 */
function makeKeyFile(path: string): string {
  const draft = `${path}.${randomBytes(6).toString('hex')}`
  const file = openSync(draft, 'wx', 0o600)
  try {
    writeSync(file, `${randomBytes(32).toString('hex')}\n`)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  try {
    linkSync(draft, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    unlinkSync(draft)
  }
  syncFolder(dirname(path))
  return readFileSync(path, 'utf8').trim()
}

function syncFolder(path: string): void {
  const folder = openSync(path, 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}
