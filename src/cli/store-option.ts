/** Which store a command works on: `--store`, else the environment, else what the command falls back to. */
import { existsSync } from 'node:fs'
import type { Command } from 'commander'
import { openStore } from '../app.ts'
import { ProvisoError } from '../base/error.ts'
import type { Store } from '../domain/ports/store.ts'
import { env } from './env.ts'

export interface StoreChoice {
  readonly spec: string
  /** How a further command has to name it. */
  readonly flags: readonly string[]
  /** It ends with this process. */
  readonly forgets: boolean
}

export function addStoreOption(command: Command): Command {
  return command.option(
    '--store <spec>',
    'where runs live: sqlite:PATH, postgres://… or memory: (default: $PROVISO_STORE)',
  )
}

/** For a command that begins something: a store of its own if none is named. */
export function chooseStore(given: string | undefined): StoreChoice {
  const spec = given ?? env.store ?? 'memory:'
  const forgets = spec.startsWith('memory:')
  return { spec, forgets, flags: given === undefined ? [] : ['--store', withoutPassword(given)] }
}

/** For a server: what it is told must still be there when it comes back. */
export function chooseLastingStore(given: string | undefined): StoreChoice {
  return chooseStore(given ?? env.store ?? 'sqlite:proviso.db')
}

/** For a command about what a server keeps: its store, which must be there already. */
export function chooseServersStore(given: string | undefined): StoreChoice {
  return chooseExistingStore(chooseLastingStore(given).spec)
}

/** For a command about runs that are there: the store must be named, and a file must exist and is not made by a slip of the pen. */
export function chooseExistingStore(given: string | undefined): StoreChoice {
  const spec = given ?? env.store
  if (spec === undefined)
    throw new ProvisoError('option/invalid', 'Which store?', {
      hint: 'Say --store sqlite:PATH or --store postgres://…, or set PROVISO_STORE',
    })
  const [, path] = /^sqlite:(.+)$/.exec(spec) ?? []
  if (path !== undefined && !existsSync(path))
    throw new ProvisoError('option/invalid', `There is no store ${spec}`, {
      hint: 'Check the path; `proviso run --store`, `serve` and `token create` make a new one',
    })
  return chooseStore(given)
}

/** Opens the store for looking only, and closes it afterwards. Nothing is claimed, so that runs of others are left alone. */
export async function readStore<T>(choice: StoreChoice, look: (store: Store) => Promise<T>): Promise<T> {
  const store = await openStore(choice.spec, { readOnly: true })
  try {
    return await look(store)
  } finally {
    await store.close()
  }
}

/** Opens the store for writing, and closes it afterwards. */
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
