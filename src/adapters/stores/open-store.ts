/** A store by its address, as `--store` and `PROVISO_STORE` give it. Only the driver that is named is loaded. */
import { ProvisoError } from '../../base/error.ts'
import type { Store } from '../../domain/ports/store.ts'

export interface OpenStoreOptions {
  /** Only look, beside a process that writes; where a store makes no difference, it is opened as ever. Default false. */
  readonly readOnly?: boolean
  /** Keep a ledger of corrections (AROS-66), in a table of its own that is made with this. Default false. */
  readonly ledger?: boolean
}

type Opener = (rest: string, address: string, options: OpenStoreOptions) => Promise<Store>

/** By what stands before the first colon. */
const openers: { readonly [scheme: string]: Opener } = {
  memory: async (_, __, { ledger = false }) => (await import('./memory.ts')).createMemoryStore({ ledger }),
  sqlite: async (path, _, options) => (await import('./sqlite.ts')).openSqliteStore({ path, ...options }),
  postgres: openPostgres,
  postgresql: openPostgres,
}

/** `memory:`, `sqlite:PATH` or `postgres://…`. */
export async function openStore(address: string, options: OpenStoreOptions = {}): Promise<Store> {
  const colon = address.indexOf(':')
  const scheme = address.slice(0, Math.max(colon, 0))
  const open = Object.hasOwn(openers, scheme) ? openers[scheme] : undefined
  if (open === undefined) {
    // Not the address itself: it may hold a password.
    throw new ProvisoError(
      'option/invalid',
      colon < 0
        ? 'The address of a store begins with its kind and a colon'
        : `There is no store for an address that begins with "${scheme}:"`,
      {
        hint: 'Use memory:, sqlite:PATH (such as sqlite:runs.db) or postgres://user@host/database',
      },
    )
  }
  return open(address.slice(colon + 1), address, options)
}

async function openPostgres(_: string, url: string, { ledger = false }: OpenStoreOptions): Promise<Store> {
  return (await import('./postgres.ts')).openPostgresStore({ url, ledger })
}
