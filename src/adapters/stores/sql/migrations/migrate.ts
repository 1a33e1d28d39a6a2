/** Migrates the tables, or refuses when they are newer than this version. The caller must lock out other processes. */
import { type Kysely, type Migration, Migrator, sql } from 'kysely'
import { ProvisoError } from '../../../../base/errors/error.ts'
import type { SqlDialect } from '../dialects/sql-dialect.ts'
import { ledgerMigrations, ledgerMigrationTable } from '../ledger.ts'
import { createFirstTables } from './first-tables.ts'
import {
  addKeys,
  addNumbers,
  addOptionalNumbers,
  addOptionalTexts,
  addPrimaryKey,
  addTexts,
  clusterByKey,
  number,
} from './table-columns.ts'

const migrationTableName = 'proviso_migrations'

interface MigrateOptions {
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

/**
 * Returns the history of the tables, in order, for every database. A migration that was released is never edited; a new one
 * is added below, and must leave the tables usable for a process of the version before (expand first, contract a release
 * later).
 */
export function listMigrations(dialect: SqlDialect): Record<string, Migration> {
  const migration = (up: (db: Kysely<unknown>, dialect: SqlDialect) => Promise<void>): Migration => ({
    up: (db: Kysely<unknown>) => up(db, dialect),
  })
  return {
    '0001_first_tables': migration(createFirstTables),
    '0002_server_tables': migration(addServerTables),
    '0003_value_uses': migration(addValueUses),
    '0004_health_columns': migration(addHealthColumns),
    '0005_messages': migration(addMessageColumns),
    '0006_pipeline_names': migration(addPipelineNames),
    '0007_node_versions': migration(addNodeVersions),
    '0008_operations_audit': migration(addOperationsAudit),
    '0009_quarantined_runs': migration(indexQuarantinedRuns),
    '0010_task_roles': migration(addTaskRoles),
    '0011_documents': migration(addDocuments),
    '0012_run_costs': migration(addRunCosts),
    '0013_cost_index': migration(indexRunCosts),
    '0014_placement': migration(addPlacement),
    '0015_packed_events': migration(packEvents),
  }
}

/**
 * Tables of the server. `flex_capabilities` has been empty since the first migration. A column that is added to a table
 * needs a default, because processes of the previous version still insert rows.
 */
async function addServerTables(db: Kysely<unknown>, dialect: SqlDialect): Promise<void> {
  const added = [
    ['endpoint', 'text', 'null'],
    ['token_id', 'text', ''],
    ['ttl_ms', number, 0],
  ] as const
  for (const [name, type, value] of added) {
    await db.schema
      .alterTable('flex_capabilities')
      .addColumn(name, type, (column) => column.notNull().defaultTo(value))
      .execute()
  }
  const index = (table: string, name: string, ...columns: string[]) =>
    db.schema.createIndex(`${table}_${name}`).on(table).columns(columns).execute()
  await index('flex_capabilities', 'oldest', 'registered_at', 'tenant', 'capability_id')

  let tokens = addKeys(db.schema.createTable('api_tokens'), dialect, 'token_id', 'tenant', 'hash')
  tokens = addOptionalTexts(addTexts(tokens, 'role', 'name'), 'capability_id')
  tokens = addOptionalNumbers(addNumbers(tokens, 'created_at'), 'expires_at', 'revoked_at')
  await addPrimaryKey(tokens, 'api_tokens', 'token_id').execute()
  await index('api_tokens', 'hash', 'hash')
  await index('api_tokens', 'tenant', 'tenant', 'created_at', 'token_id')

  const names = addKeys(db.schema.createTable('once_names'), dialect, 'name_hash')
  await addPrimaryKey(
    addNumbers(addTexts(names, 'name', 'body', 'take_id'), 'taken_at', 'expires_at'),
    'once_names',
    'name_hash',
  ).execute()
  await index('once_names', 'expired', 'expires_at')
}

/**
 * Tracks which run uses which large value, so that unused values can be deleted. The uses of earlier values are unknown:
 * they belong to a run without a name, and are kept. While a process of the previous version writes, do not prune, because
 * it does not record its uses.
 */
async function addValueUses(db: Kysely<unknown>, dialect: SqlDialect): Promise<void> {
  const table = addKeys(db.schema.createTable('flex_value_uses'), dialect, 'hash', 'run_id')
  await addPrimaryKey(table, 'flex_value_uses', 'hash', 'run_id').execute()
  await db.schema.createIndex('flex_value_uses_run').on('flex_value_uses').column('run_id').execute()
  await sql`insert into ${sql.table('flex_value_uses')} select hash, '' from ${sql.table('flex_values')}`.execute(
    db,
  )
}

/**
 * Adds the columns that health figures are computed from, and a partial index of the attempts that called a model, by time.
 * Where the database allows it, the index covers the queries. Earlier spans are null in the new columns and not counted.
 */
async function addHealthColumns(db: Kysely<unknown>, dialect: SqlDialect): Promise<void> {
  const add = (table: string, name: string, type: 'text' | typeof number) =>
    db.schema.alterTable(table).addColumn(name, type).execute()
  await add('flex_plan_nodes', 'signals', 'text')
  const names = ['node_id', 'model_id', 'signals']
  const amounts = ['calls', 'input_tokens', 'output_tokens', 'cost_usd', 'cost_unknown'].map(
    (name) => `repair_${name}`,
  )
  for (const name of names) await add('spans', name, 'text')
  for (const name of amounts) await add('spans', name, number)
  const covered = dialect.columns.pickCovering([...names, 'run_id', ...amounts])
  await db.schema
    .createIndex('spans_health')
    .on('spans')
    .columns(['ended_at', ...covered])
    .where(sql.ref('signals'), 'is not', null)
    .execute()
}

/**
 * Adds the missing columns of messages, and an index that returns the messages of a run in order. Asks and their audit get
 * the run id under the name that messages have, so that all three can be joined by it (FLEX-86); the column is generated,
 * so that a process of the previous version writes as before. Earlier asks have no messages.
 */
async function addMessageColumns(db: Kysely<unknown>, dialect: SqlDialect): Promise<void> {
  const added = [
    ['tenant', dialect.columns.key, ''],
    ['request_id', 'text', ''],
    ['seq', number, 0],
  ] as const
  for (const [name, type, value] of added) {
    await db.schema
      .alterTable('agent_messages')
      .addColumn(name, type, (column) => column.notNull().defaultTo(value))
      .execute()
  }
  await db.schema
    .createIndex('agent_messages_order')
    .on('agent_messages')
    .columns(['flex_run_id', 'seq'])
    .execute()
  await db.schema.dropIndex('agent_messages_run').execute()
  for (const table of ['hitl_requests', 'hitl_events']) {
    await db.schema
      .alterTable(table)
      .addColumn('flex_run_id', dialect.columns.key, (column) =>
        dialect.columns.storeGenerated(column.generatedAlwaysAs(sql.ref('run_id'))),
      )
      .execute()
  }
}

/** The pipeline of a run; unknown for earlier runs. */
async function addPipelineNames(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('flex_runs').addColumn('pipeline', 'text').execute()
}

/**
 * Keeps nodes by plan version, with the hash of their input and the validation status of their output; outputs get the
 * final facets. Earlier rows keep their version.
 */
async function addNodeVersions(db: Kysely<unknown>, dialect: SqlDialect): Promise<void> {
  const table = 'flex_plan_nodes'
  for (const name of ['context_hash', 'validation_status'])
    await db.schema.alterTable(table).addColumn(name, 'text').execute()
  await db.schema.alterTable('flex_run_outputs').addColumn('facets', 'text').execute()
  const columns = ['run_id', 'node_id', 'plan_version']
  await dialect.columns.replacePrimaryKey(db, {
    table,
    columns,
    async createCopy(name) {
      let nodes = addKeys(db.schema.createTable(name), dialect, 'run_id', 'node_id')
      nodes = addNumbers(addTexts(nodes, 'kind', 'status'), 'position', 'plan_version', 'attempts')
      nodes = addOptionalTexts(nodes, 'capability_id', 'label', 'output', 'error')
      nodes = addOptionalNumbers(nodes, 'started_at', 'ended_at', 'attempt_started_at')
      nodes = addOptionalTexts(nodes, 'signals', 'context_hash', 'validation_status')
      await clusterByKey(nodes, dialect, table, ...columns).execute()
    },
  })
}

/** Adds the operations audit, and what tokens have in common after a rotation. */
async function addOperationsAudit(db: Kysely<unknown>, dialect: SqlDialect): Promise<void> {
  await db.schema.alterTable('api_tokens').addColumn('family_id', 'text').execute()
  let table = addKeys(db.schema.createTable('operations_audit'), dialect, 'tenant')
  table = addTexts(table, 'actor', 'action', 'subject', 'details', 'prev', 'hash')
  table = addNumbers(table, 'seq', 'at')
  await addPrimaryKey(table, 'operations_audit', 'seq').execute()
  await db.schema
    .createIndex('operations_audit_tenant')
    .on('operations_audit')
    .columns(['tenant', 'seq'])
    .execute()
}

/** A partial index, which costs other runs nothing: quarantined runs are few, and metrics count them. */
async function indexQuarantinedRuns(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createIndex('flex_runs_quarantined')
    .on('flex_runs')
    .columns(['created_at', 'run_id'])
    .where(sql.ref('status'), '=', sql.lit('quarantined'))
    .execute()
}

/** Roles of people for tasks; tokens without them have none. */
async function addTaskRoles(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('api_tokens').addColumn('task_roles', 'text').execute()
}

/** Webhooks, their deliveries and facets of tenants. Indexes: lists of a tenant, what is due, what belongs to a run. */
async function addDocuments(db: Kysely<unknown>, dialect: SqlDialect): Promise<void> {
  let table = addKeys(db.schema.createTable('flex_documents'), dialect, 'key_hash', 'tenant', 'document_id')
  table = addTexts(table, 'kind', 'body', 'change_id')
  table = addNumbers(table, 'version', 'created_at', 'updated_at')
  table = addOptionalNumbers(addOptionalTexts(table, 'run_id'), 'due_at')
  await addPrimaryKey(table, 'flex_documents', 'key_hash').execute()
  const index = (name: string, ...columns: string[]) =>
    db.schema.createIndex(`flex_documents_${name}`).on('flex_documents').columns(columns)
  await index('newest', 'kind', 'tenant', 'created_at', 'document_id').execute()
  await index('due', 'kind', 'due_at').where(sql.ref('due_at'), 'is not', null).execute()
  await index('run', 'run_id').where(sql.ref('run_id'), 'is not', null).execute()
}

/** Cost and tokens of runs; unknown for earlier runs. */
async function addRunCosts(db: Kysely<unknown>): Promise<void> {
  for (const name of ['cost_usd', 'tokens'])
    await db.schema.alterTable('flex_runs').addColumn(name, number).execute()
}

/** For lists of a tenant by cost: the order of the list, with runs without a known cost at its end. */
async function indexRunCosts(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createIndex('flex_runs_cost')
    .on('flex_runs')
    .expression(sql`tenant, coalesce(cost_usd, 0), created_at, run_id`)
    .execute()
}

/** Priority and placement of runs; earlier runs have none. The index holds only the runs that are not of normal priority. */
async function addPlacement(db: Kysely<unknown>): Promise<void> {
  const table = 'flex_runs'
  await db.schema
    .alterTable(table)
    .addColumn('priority', number, (column) => column.notNull().defaultTo(0))
    .execute()
  await db.schema.alterTable(table).addColumn('placement', 'text').execute()
  await db.schema
    .createIndex('flex_runs_priority')
    .on(table)
    .columns(['priority', 'due_at', 'run_id'])
    .where(sql<boolean>`priority <> 0 and due_at is not null`)
    .execute()
}

/**
 * A row of the journal may have several events, and the rows of nodes may be older than the events of a run under way: see
 * `writes.ts` and `lagging-nodes.ts`. Earlier rows have one event each, and no rows of nodes are older.
 */
async function packEvents(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable('flex_events')
    .addColumn('events', number, (column) => column.notNull().defaultTo(1))
    .execute()
  await db.schema.alterTable('flex_runs').addColumn('nodes_seq', number).execute()
}
