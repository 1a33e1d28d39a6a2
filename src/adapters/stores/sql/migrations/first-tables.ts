/** Migration 0001: the tables of runs, their journal, its projections and asks. */
import { type Kysely, sql } from 'kysely'
import type { SqlDialect } from '../dialects/sql-dialect.ts'
import {
  addKeys,
  addNumbers,
  addOptionalNumbers,
  addOptionalTexts,
  addPrimaryKey,
  addTexts,
  clusterByKey,
} from './table-columns.ts'

export async function createFirstTables(db: Kysely<unknown>, dialect: SqlDialect): Promise<void> {
  for (const create of [createRuns, createJournal, createProjections, createAsks, createReserved])
    await create(db, dialect)
}

async function createRuns(db: Kysely<unknown>, dialect: SqlDialect): Promise<void> {
  let table = addKeys(db.schema.createTable('flex_runs'), dialect, 'run_id', 'tenant')
  table = addTexts(table, 'status', 'objective', 'schema_hash', 'correlation_id')
  table = addNumbers(table, 'seq', 'plan_version', 'created_at', 'updated_at', 'lease_epoch')
  table = addOptionalTexts(table, 'persona', 'variant_policy', 'thread_id', 'lease_owner', 'claim_id')
  table = addOptionalNumbers(
    table,
    'wake_at',
    'satisfaction_score',
    'observed_satisfaction',
    'lease_until',
    'due_at',
  )
  await clusterByKey(table, dialect, 'flex_runs', 'run_id').execute()
  const index = (name: string, ...columns: string[]) =>
    db.schema.createIndex(`flex_runs_${name}`).on('flex_runs').columns(columns)
  await index('due', 'due_at', 'run_id').where(sql.ref('due_at'), 'is not', null).execute()
  await index('owner', 'lease_owner').where(sql.ref('lease_owner'), 'is not', null).execute()
  await index('thread', 'thread_id').where(sql.ref('thread_id'), 'is not', null).execute()
  await index('newest', 'created_at', 'run_id').execute()
  await index('tenant', 'tenant', 'created_at', 'run_id').execute()
}

async function createJournal(db: Kysely<unknown>, dialect: SqlDialect): Promise<void> {
  let events = addKeys(db.schema.createTable('flex_events'), dialect, 'run_id')
  events = addNumbers(events, 'seq', 'version', 'at', 'plan_version')
  events = addOptionalTexts(addTexts(events, 'type', 'payload', 'write_id'), 'node_id', 'message')
  await addPrimaryKey(events, 'flex_events', 'run_id', 'seq').execute()
  const values = addTexts(addKeys(db.schema.createTable('flex_values'), dialect, 'hash'), 'body')
  await addPrimaryKey(values, 'flex_values', 'hash').execute()
}

async function createProjections(db: Kysely<unknown>, dialect: SqlDialect): Promise<void> {
  let nodes = addKeys(db.schema.createTable('flex_plan_nodes'), dialect, 'run_id', 'node_id')
  nodes = addNumbers(addTexts(nodes, 'kind', 'status'), 'position', 'plan_version', 'attempts')
  nodes = addOptionalTexts(nodes, 'capability_id', 'label', 'output', 'error')
  nodes = addOptionalNumbers(nodes, 'started_at', 'ended_at', 'attempt_started_at')
  await clusterByKey(nodes, dialect, 'flex_plan_nodes', 'run_id', 'node_id').execute()

  let snapshots = addKeys(db.schema.createTable('flex_plan_snapshots'), dialect, 'run_id')
  snapshots = addNumbers(
    addTexts(snapshots, 'pending_node_ids', 'plan', 'facets'),
    'seq',
    'plan_version',
    'at',
  )
  await addPrimaryKey(snapshots, 'flex_plan_snapshots', 'run_id', 'seq').execute()

  let outputs = addKeys(db.schema.createTable('flex_run_outputs'), dialect, 'run_id')
  outputs = addNumbers(addTexts(outputs, 'status', 'schema_hash'), 'plan_version', 'at')
  outputs = addOptionalTexts(outputs, 'output', 'error', 'provenance')
  await clusterByKey(outputs, dialect, 'flex_run_outputs', 'run_id').execute()

  let spans = addKeys(db.schema.createTable('spans'), dialect, 'run_id', 'span_id')
  spans = addOptionalTexts(addTexts(spans, 'name', 'status', 'attributes'), 'parent_span_id')
  spans = addNumbers(spans, 'started_at', 'ended_at', 'seq')
  await clusterByKey(spans, dialect, 'spans', 'run_id', 'span_id').execute()
}

async function createAsks(db: Kysely<unknown>, dialect: SqlDialect): Promise<void> {
  let asks = addKeys(db.schema.createTable('hitl_requests'), dialect, 'run_id', 'request_id', 'tenant')
  asks = addOptionalNumbers(
    addNumbers(addTexts(asks, 'status', 'payload'), 'created_at', 'expires_at'),
    'resolved_at',
  )
  asks = addOptionalTexts(asks, 'pending_node_id', 'decision', 'decided_by', 'note')
  await addPrimaryKey(asks, 'hitl_requests', 'run_id', 'request_id').execute()
  const index = (name: string, ...columns: string[]) =>
    db.schema.createIndex(`hitl_requests_${name}`).on('hitl_requests').columns(columns)
  await index('request', 'request_id').execute()
  await index('oldest', 'status', 'created_at', 'request_id').execute()
  await index('tenant', 'tenant', 'status', 'created_at', 'request_id').execute()

  let audit = addKeys(db.schema.createTable('hitl_events'), dialect, 'run_id')
  audit = addTexts(audit, 'request_id', 'decided_by', 'what', 'subject_hash', 'prev', 'hash')
  await addPrimaryKey(addNumbers(audit, 'seq', 'at'), 'hitl_events', 'run_id', 'seq').execute()
}

/** Tables that the specifications name and that nothing wrote when they were made. */
async function createReserved(db: Kysely<unknown>, dialect: SqlDialect): Promise<void> {
  const messages = addKeys(db.schema.createTable('agent_messages'), dialect, 'message_id', 'flex_run_id')
  await addPrimaryKey(
    addNumbers(addOptionalTexts(addTexts(messages, 'role', 'body'), 'node_id'), 'at'),
    'agent_messages',
    'message_id',
  ).execute()
  await db.schema
    .createIndex('agent_messages_run')
    .on('agent_messages')
    .columns(['flex_run_id', 'at'])
    .execute()
  const traces = addNumbers(
    addTexts(addKeys(db.schema.createTable('traces'), dialect, 'run_id'), 'trace_data'),
    'at',
  )
  await addPrimaryKey(traces, 'traces', 'run_id').execute()
  const capabilities = addKeys(db.schema.createTable('flex_capabilities'), dialect, 'tenant', 'capability_id')
  await addPrimaryKey(
    addNumbers(addTexts(capabilities, 'body', 'status'), 'registered_at', 'last_seen_at'),
    'flex_capabilities',
    'tenant',
    'capability_id',
  ).execute()
}
