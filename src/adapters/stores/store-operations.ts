/** Operations on a whole store for operators: backup, restore, inspection. Only the driver that is named is loaded. */
import { ProvisoError } from '../../base/errors/error.ts'

import type { StoreOperations } from './shared/operation-types.ts'

export type {
  AcceptedLoss,
  BackupResult,
  Finding,
  Progress,
  RestoreResult,
} from './shared/operation-types.ts'
export { parseSqliteAddress } from './sqlite/sqlite-address.ts'

/** By scheme. */
const kinds: Readonly<Record<string, () => Promise<StoreOperations>>> = {
  sqlite: loadSqlite,
  'sqlite+node': loadSqlite,
  postgres: loadPostgres,
  postgresql: loadPostgres,
}

async function loadSqlite(): Promise<StoreOperations> {
  return (await import('./sqlite/operations/sqlite-operations.ts')).sqliteOperations
}

async function loadPostgres(): Promise<StoreOperations> {
  return (await import('./postgres/postgres-operations.ts')).postgresOperations
}

/** Returns the operations of a store by its address; throws for stores without any, such as `memory:`. */
export async function storeOperations(address: string): Promise<StoreOperations> {
  const scheme = address.slice(0, Math.max(address.indexOf(':'), 0))
  const load = Object.hasOwn(kinds, scheme) ? kinds[scheme] : undefined
  if (load === undefined)
    throw new ProvisoError('option/invalid', 'The store must be a SQLite file or a PostgreSQL database', {
      hint: 'Pass --store sqlite:PATH or --store postgres://user@host/database',
    })
  return load()
}
