/** Chooses the store of a command: `--store`, else the environment, else the command's default. */

import { existsSync } from 'node:fs'
import type { Command } from 'commander'
import { parseSqliteAddress } from '../../adapters/stores/store-operations.ts'
import { openSealed, openShown, openStore } from '../../app.ts'
import { ProvisoError } from '../../base/errors/error.ts'
import type { Store } from '../../domain/ports/store.ts'
import { readEnv } from '../../env.ts'
import { env } from '../env.ts'

export interface StoreChoice {
  readonly spec: string
  /** Flags that select this store in a suggested command. */
  readonly flags: readonly string[]
  /** In-memory store: its data ends with this process. */
  readonly forgets: boolean
}

/** Store of a server's data, and of the commands on it, if none is named. */
const serversStore = 'sqlite:proviso.db'
/** Store of a command that starts runs, if none is named. */
const runsStore = 'memory:'

/** `otherwise`: which store the command opens if none is named; absent: it needs one. */
export function addStoreOption(command: Command, otherwise?: 'server' | 'memory'): Command {
  const fallback = otherwise && (otherwise === 'server' ? serversStore : runsStore)
  return command.option(
    '--store <spec>',
    `store of the runs: sqlite:PATH, postgres://… or memory: (${
      fallback === undefined
        ? 'required, unless $PROVISO_STORE is set'
        : `default: $PROVISO_STORE, else ${fallback}`
    })`,
  )
}

/** For a command that starts a run: defaults to an in-memory store. */
export function chooseStore(given: string | undefined): StoreChoice {
  const spec = given ?? env.store ?? runsStore
  const forgets = spec.startsWith('memory:')
  return { spec, forgets, flags: given === undefined ? [] : ['--store', withoutPassword(given)] }
}

/** For a server: defaults to a file, so that its data survives a restart. */
export function chooseLastingStore(given: string | undefined): StoreChoice {
  return chooseStore(given ?? env.store ?? serversStore)
}

/** For a command on a server's data: the server's store, which must already exist. */
export function chooseServersStore(given: string | undefined): StoreChoice {
  return chooseExistingStore(chooseLastingStore(given).spec)
}

/** For a command on existing runs: the store must be named, and its file must exist, so that a typo does not create an empty one. */
export function chooseExistingStore(given: string | undefined): StoreChoice {
  const spec = given ?? env.store
  if (spec === undefined)
    throw new ProvisoError('option/invalid', 'Cannot open a store: none is given', {
      hint: 'Pass --store sqlite:PATH or --store postgres://…, or set PROVISO_STORE',
    })
  const path = parseSqliteAddress(spec)?.path
  if (path !== undefined && !existsSync(path))
    throw new ProvisoError('option/invalid', `Cannot open the store ${spec}: the file does not exist`, {
      hint: 'Check the path; create a store with `proviso run --store`, `serve` or `token create`',
    })
  return chooseStore(given)
}

/** Opens the store read-only, and closes it after use. It claims no runs, so that other processes keep theirs. */
export function readStore<T>(choice: StoreChoice, look: (store: Store) => Promise<T>): Promise<T> {
  return withStore(choice, (store) => look(openSealed(store, readEnv())))
}

async function withStore<T>(choice: StoreChoice, look: (store: Store) => Promise<T>): Promise<T> {
  const store = await openStore(choice.spec, { readOnly: true })
  try {
    return await look(store)
  } finally {
    await store.close()
  }
}

/** The same for commands that print runs: secrets stay sealed, and are redacted when they are printed. */
export function readShown<T>(choice: StoreChoice, look: (store: Store) => Promise<T>): Promise<T> {
  return withStore(choice, (store) => look(openShown(store, readEnv())))
}

/** Opens the store for writing, and closes it after use. */
export async function writeStore<T>(choice: StoreChoice, write: (store: Store) => Promise<T>): Promise<T> {
  const store = await openStore(choice.spec)
  try {
    return await write(store)
  } finally {
    await store.close()
  }
}

function withoutPassword(spec: string): string {
  return spec.replace(/^(\w+:\/\/[^:/@]+):[^@]*@/, '$1:***@')
}
