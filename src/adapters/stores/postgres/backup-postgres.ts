/**
 * Logical backup of a PostgreSQL store without external tools: the rows of all tables, read in one snapshot (repeatable read)
 * while other processes write, as compressed lines of JSON. It is no replacement for `pg_dump` or for archiving the
 * write-ahead log: it has the tables of this package only, no roles and no settings, and uses one connection.
 */
import { createReadStream, createWriteStream, rmSync, statSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import type { Client } from 'pg'
import { ProvisoError } from '../../../base/errors/error.ts'
import { processAliveMs } from '../../../domain/ports/documents.ts'
import {
  assertFree,
  checkBackup,
  hashFile,
  publishBackup,
  syncFile,
  toPartialPath,
} from '../shared/backup-files.ts'
import type {
  BackupManifest,
  BackupOptions,
  BackupResult,
  RestoreOptions,
  RestoreResult,
} from '../shared/operation-types.ts'
import { loadPg, quoteName } from './load-pg.ts'
import { openPostgresStore } from './postgres.ts'

const migrationTable = 'proviso_migrations'
/** Rows per statement: 28 columns at most, and a statement may have 65,535 parameters. */
const pageSize = 500

/** A line of the backup: the head of a table, a row, or the end. */
type Line =
  | { readonly migrations: readonly string[] }
  | { readonly table: string; readonly columns: readonly string[] }
  | readonly unknown[]
  | { readonly rows: number }

export async function backupPostgres(url: string, options: BackupOptions): Promise<BackupResult> {
  const { to, dryRun = false, onProgress } = options
  assertFree(options)
  return withClient(url, async (client) => {
    await client.query('begin isolation level repeatable read read only')
    const size = await client.query<{ bytes: string }>('select pg_database_size(current_database()) as bytes')
    const result = { to, dryRun, bytes: Number(size.rows[0]?.bytes), anchor: 'absent' as const }
    if (dryRun) return result
    const partial = toPartialPath(to)
    try {
      const counts = new Map<string, number>()
      const lines = readLines(client, counts, (done) => onProgress?.({ done, unit: 'rows' }))
      await pipeline(Readable.from(toText(lines)), createGzip(), createWriteStream(partial, { mode: 0o600 }))
      syncFile(partial)
      const manifest: BackupManifest = {
        format: 'proviso-backup',
        version: 1,
        kind: 'postgres',
        createdAt: new Date().toISOString(),
        bytes: statSync(partial).size,
        sha256: await hashFile(partial),
        runs: counts.get('flex_runs') ?? 0,
        events: counts.get('flex_events') ?? 0,
      }
      publishBackup(to, manifest)
      return { ...result, bytes: manifest.bytes, manifest }
    } catch (cause) {
      rmSync(partial, { force: true })
      throw cause
    }
  })
}

async function* toText(lines: AsyncIterable<Line>): AsyncGenerator<string> {
  for await (const line of lines) yield `${JSON.stringify(line)}\n`
}

async function* readLines(
  client: Client,
  counts: Map<string, number>,
  onRows: (done: number) => void,
): AsyncGenerator<Line> {
  let rows = 0
  yield { migrations: await readMigrations(client) }
  for (const { table, columns } of await listTables(client)) {
    yield { table, columns }
    const names = columns.map(quoteName).join(', ')
    await client.query(`declare backup cursor for select ${names} from ${quoteName(table)}`)
    for (;;) {
      const page = await client.query({ text: `fetch ${pageSize} from backup`, rowMode: 'array' })
      for (const row of page.rows as unknown[][]) yield row
      counts.set(table, (counts.get(table) ?? 0) + countRows(page.rows as unknown[][], columns))
      rows += page.rows.length
      onRows(rows)
      if (page.rows.length < pageSize) break
    }
    await client.query('close backup')
  }
  yield { rows }
}

/** A row of the journal has one event or several: its events count. */
function countRows(rows: readonly unknown[][], columns: readonly string[]): number {
  const events = columns.indexOf('events')
  return events === -1 ? rows.length : rows.reduce((sum, row) => sum + Number(row[events]), 0)
}

async function readMigrations(client: Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(`select name from ${migrationTable} order by name`)
  return rows.map(({ name }) => name)
}

/** Names of the tables that the migrations of this package create. */
const ownTables =
  /^(flex_|hitl_|proviso_)|^(agent_messages|spans|traces|api_tokens|once_names|operations_audit|correction_ledger)$/
/** Made by the migrations of the store that is restored to. */
const migrationTables = /_migrations(_lock)?$/

interface TableColumns {
  readonly table: string
  readonly columns: readonly string[]
}

/** Generated columns are left out: the database computes them. */
async function listTables(client: Client): Promise<TableColumns[]> {
  const { rows } = await client.query<{ table: string; columns: string[] }>(
    `select c.table_name as table, array_agg(c.column_name::text order by c.ordinal_position) as columns
     from information_schema.columns c join information_schema.tables t using (table_schema, table_name)
     where table_schema = current_schema() and t.table_type = 'BASE TABLE' and c.is_generated = 'NEVER'
     group by c.table_name order by c.table_name`,
  )
  return rows.filter(({ table }) => ownTables.test(table) && !migrationTables.test(table))
}

export async function restorePostgres(url: string, options: RestoreOptions): Promise<RestoreResult> {
  const { from, force = false, dryRun = false, onProgress } = options
  const manifest = await checkBackup(from, 'postgres')
  if (dryRun) return { manifest, dryRun }
  // Creates the tables.
  await (await openPostgresStore({ url, ledger: true })).close()
  await withClient(url, async (client) => {
    await client.query('begin')
    await assertIdle(client)
    const tables = await listTables(client)
    await emptyTables(client, tables, force)
    await insertLines(client, from, (done) => onProgress?.({ done, unit: 'rows' }))
    await compareCounts(client, manifest)
    await client.query('commit')
  })
  return { manifest, dryRun }
}

/** Refuses while a server or a worker executes runs that are about to be replaced. */
async function assertIdle(client: Client): Promise<void> {
  const { rows } = await client.query<{ id: string }>(
    `select document_id as id from flex_documents
     where kind = 'process' and updated_at > extract(epoch from clock_timestamp()) * 1000 - ${processAliveMs}
     order by id`,
  )
  if (rows.length === 0) return
  const names = rows.map(({ id }) => id).join(', ')
  throw new ProvisoError('option/invalid', `Cannot restore to this database: in use by ${names}`, {
    hint: 'Stop these processes first; one that was killed counts for 45 seconds',
  })
}

async function emptyTables(client: Client, tables: readonly TableColumns[], force: boolean): Promise<void> {
  for (const { table } of tables) {
    const { rowCount } = await client.query(`select 1 from ${quoteName(table)} limit 1`)
    if ((rowCount ?? 0) > 0 && !force)
      throw new ProvisoError(
        'option/invalid',
        `Cannot restore to this database: the table ${table} has rows`,
        {
          hint: 'Restore to an empty database, or pass --force to delete all rows of the store first',
        },
      )
  }
  await client.query(`truncate ${tables.map(({ table }) => quoteName(table)).join(', ')}`)
}

async function insertLines(client: Client, from: string, onRows: (done: number) => void): Promise<void> {
  let head: TableColumns | undefined
  let page: (readonly unknown[])[] = []
  let rows = 0
  let expected: number | undefined
  const flush = async () => {
    if (head !== undefined && page.length > 0) await insertRows(client, head, page)
    rows += page.length
    page = []
    onRows(rows)
  }
  for await (const text of createInterface({ input: createReadStream(from).pipe(createGunzip()) })) {
    const line = JSON.parse(text) as Line
    if (Array.isArray(line)) {
      page.push(line)
      if (page.length >= pageSize) await flush()
    } else if ('migrations' in line) await assertKnown(client, line.migrations)
    else if ('table' in line) {
      await flush()
      head = line
    } else if ('rows' in line) expected = line.rows
  }
  await flush()
  if (rows !== expected)
    throw new ProvisoError(
      'option/invalid',
      `Cannot restore ${from}: it has ${rows} rows instead of ${expected}`,
    )
}

async function assertKnown(client: Client, migrations: readonly string[]): Promise<void> {
  const known = new Set(await readMigrations(client))
  const foreign = migrations.filter((name) => !known.has(name))
  if (foreign.length > 0)
    throw new ProvisoError('store/newer', `The backup has unknown migrations: ${foreign.join(', ')}`)
}

/** One statement for a page of rows. */
async function insertRows(
  client: Client,
  { table, columns }: TableColumns,
  page: readonly (readonly unknown[])[],
): Promise<void> {
  const names = columns.map(quoteName)
  const groups = page.map(
    (_, row) => `(${columns.map((_, column) => `$${row * columns.length + column + 1}`).join(', ')})`,
  )
  const text = `insert into ${quoteName(table)} (${names.join(', ')}) values ${groups.join(', ')}`
  await client.query(text, page.flat())
}

async function compareCounts(client: Client, manifest: BackupManifest): Promise<void> {
  const { rows } = await client.query<{ runs: string; events: string }>(
    'select (select count(*) from flex_runs) as runs, (select coalesce(sum(events), 0) from flex_events) as events',
  )
  const [row] = rows
  if (Number(row?.runs) !== manifest.runs || Number(row?.events) !== manifest.events)
    throw new ProvisoError('store/corrupt', 'The restored rows do not match the manifest of the backup')
}

async function withClient<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const pg = await loadPg()
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  try {
    await client.connect()
    return await work(client)
  } catch (cause) {
    if (ProvisoError.is(cause)) throw cause
    const message = cause instanceof Error ? cause.message : String(cause)
    throw new ProvisoError('store/unavailable', `Cannot use PostgreSQL: ${message}`, { cause })
  } finally {
    // Rolls back what is not committed.
    await client.end().catch(() => {})
  }
}
