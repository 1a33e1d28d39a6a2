/** Migrates the tables, or refuses when they are newer than this version. The caller must lock out other processes. */
import { type Kysely, type Migration, Migrator, sql } from 'kysely'
import { ProvisoError } from '../../../../base/errors/error.ts'
import type { SqlDialect } from '../dialects/sql-dialect.ts'
import { ledgerMigrations, ledgerMigrationTable } from '../ledger.ts'
import { listMigrations } from './migrations.ts'

const migrationTableName = 'proviso_migrations'

export interface MigrateOptions {
  readonly dialect: SqlDialect
  /** Location of the store in messages: a path, or an address without its password. */
  readonly location: string
  /** The schema of the tables, where a database has several. */
  readonly schema?: string
  /** Only checks that the tables exist and are not newer. Default false. */
  readonly readOnly?: boolean
  /** Also the tables of the correction ledger, which have a history of their own (C9). Default false. */
  readonly ledger?: boolean
}

/** Migrations, and the table that says which of them were made. */
interface History {
  readonly known: Record<string, Migration>
  readonly table: string
}

export async function migrate(db: Kysely<unknown>, options: MigrateOptions): Promise<void> {
  const { dialect, ledger = false } = options
  await bringUpToDate(db, { known: listMigrations(dialect), table: migrationTableName }, options)
  if (ledger)
    await bringUpToDate(db, { known: ledgerMigrations(dialect), table: ledgerMigrationTable }, options)
}

async function bringUpToDate(
  db: Kysely<unknown>,
  { known, table }: History,
  { dialect, location, schema, readOnly = false }: MigrateOptions,
): Promise<void> {
  const done = await readExecuted(db, table, dialect)
  const foreign = done.filter((name) => !Object.hasOwn(known, name))
  if (foreign.length > 0) {
    throw new ProvisoError('store/newer', `The store at ${location} has unknown migrations: ${foreign}`)
  }
  if (Object.keys(known).every((name) => done.includes(name))) return
  if (readOnly) {
    throw new ProvisoError(
      'store/unavailable',
      `The store at ${location} does not have the tables of this version`,
      {
        hint: 'Open it once for writing; readOnly does not migrate it',
      },
    )
  }
  const migrator = new Migrator({
    db,
    provider: { getMigrations: async () => known },
    migrationTableName: table,
    migrationLockTableName: `${table}_lock`,
    ...(schema !== undefined && { migrationTableSchema: schema }),
  })
  const { error } = await migrator.migrateToLatest()
  if (error !== undefined) {
    throw new ProvisoError('store/unavailable', `Cannot migrate the tables at ${location}`, {
      cause: error,
    })
  }
}

async function readExecuted(db: Kysely<unknown>, table: string, dialect: SqlDialect): Promise<string[]> {
  try {
    const { rows } = await sql<{ name: string }>`select name from ${sql.table(table)}`.execute(db)
    return rows.map(({ name }) => name)
  } catch (error) {
    if (dialect.isMissingTable(error)) return []
    throw error
  }
}
