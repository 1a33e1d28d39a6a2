/** Which store a command works on: `--store`, else the environment, else what the command falls back to. */
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

export function chooseStore(given: string | undefined, fallback?: string): StoreChoice {
  const spec = given ?? env.store ?? fallback
  if (spec === undefined)
    throw new ProvisoError('option/invalid', 'Which store?', {
      hint: 'Say --store sqlite:PATH or --store postgres://…, or set PROVISO_STORE',
    })
  const forgets = spec.startsWith('memory:')
  return { spec, forgets, flags: given === undefined ? [] : ['--store', withoutPassword(given)] }
}

/** Opens the store for looking only, and closes it afterwards. Nothing is claimed, so that runs of others are left alone. */
export async function readStore<T>(choice: StoreChoice, look: (store: Store) => Promise<T>): Promise<T> {
  // The seam for stores that can be opened for reading alone, beside a process that writes.
  const store = await openStore(choice.spec)
  try {
    return await look(store)
  } finally {
    await store.close()
  }
}

function withoutPassword(spec: string): string {
  return spec.replace(/^(\w+:\/\/[^:/@]+):[^@]*@/, '$1:***@')
}
