/** Opens a store by its address, as in `--store` and `PROVISO_STORE`. Only the driver that is named is loaded. */
import { ProvisoError } from '../../base/errors/error.ts'
import type { Pace } from '../../base/time/pace.ts'
import type { Store } from '../../domain/ports/store.ts'

export interface OpenStoreOptions {
  /** Opens the store for reading, next to a process that writes; ignored by stores without that distinction. Default false. */
  readonly readOnly?: boolean
  /** Keep a ledger of corrections (AROS-66), in a table of its own that is made with this. Default false. */
  readonly ledger?: boolean
  /** Schedules the answers to writes among the other work of an app, which passes its own. Default: one per store. */
  readonly pace?: Pace | undefined
}

type Opener = (rest: string, address: string, options: OpenStoreOptions) => Promise<Store>

/** By scheme. */
const openers: { readonly [scheme: string]: Opener } = {
  memory: async (_, __, { ledger = false }) =>
    (await import('./memory/memory.ts')).createMemoryStore({ ledger }),
  sqlite: async (path, _, options) =>
    (await import('./sqlite/sqlite.ts')).openSqliteStore({ path, ...options }),
  'sqlite+node': async (path, _, options) =>
    (await import('./sqlite/sqlite.ts')).openSqliteStore({ path, driver: 'node', ...options }),
  postgres: openPostgres,
  postgresql: openPostgres,
}

/** `memory:`, `sqlite:PATH`, `sqlite+node:PATH` or `postgres://…`. */
export async function openStore(address: string, options: OpenStoreOptions = {}): Promise<Store> {
  const colon = address.indexOf(':')
  const scheme = address.slice(0, Math.max(colon, 0))
  const open = Object.hasOwn(openers, scheme) ? openers[scheme] : undefined
  if (open === undefined) {
    // Not the address itself: it may hold a password.
    throw new ProvisoError(
      'option/invalid',
      colon < 0
        ? 'The address of a store must start with its kind and a colon'
        : `Unknown kind of store "${scheme}:"`,
      {
        hint: 'Use memory:, sqlite:PATH (such as sqlite:runs.db) or postgres://user@host/database',
      },
    )
  }
  return open(address.slice(colon + 1), address, options)
}

async function openPostgres(
  _: string,
  url: string,
  { readOnly = false, ledger = false, pace }: OpenStoreOptions,
): Promise<Store> {
  return (await import('./postgres/postgres.ts')).openPostgresStore({ url, readOnly, ledger, pace })
}
