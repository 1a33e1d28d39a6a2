/**
 * The history of the tables, for both databases. A migration that was released is never edited; a new one is added below,
 * and must leave the tables usable for a process of the version before (expand first, contract a release later).
 */
import { type CreateTableBuilder, type Kysely, type Migration, sql } from 'kysely'

/** Times and counters: whole numbers up to 2^53 are exact in both databases, and no fraction is ever refused. */
const number = 'double precision'

// Migrations do not use the current table types: they describe earlier versions.
type Builder = CreateTableBuilder<string, string>

/** `key`: the type of texts that are compared and ordered, by code point in every database. */
export function migrations(dialect: 'sqlite' | 'postgres'): Record<string, Migration> {
  const key = dialect === 'postgres' ? sql`text collate "C"` : sql`text`

  const keyColumns = (table: Builder, ...names: string[]) =>
    names.reduce((columns, name) => columns.addColumn(name, key, (column) => column.notNull()), table)
  const text = (table: Builder, ...names: string[]) =>
    names.reduce((columns, name) => columns.addColumn(name, 'text', (column) => column.notNull()), table)
  const textOrNull = (table: Builder, ...names: string[]) =>
    names.reduce((columns, name) => columns.addColumn(name, 'text'), table)
  const numbers = (table: Builder, ...names: string[]) =>
    names.reduce((columns, name) => columns.addColumn(name, number, (column) => column.notNull()), table)
  const numbersOrNull = (table: Builder, ...names: string[]) =>
    names.reduce((columns, name) => columns.addColumn(name, number), table)
  const primary = (table: Builder, name: string, ...columns: string[]) =>
    table.addPrimaryKeyConstraint(`${name}_key`, columns)
  /** Rows in the order of their key: SQLite then keeps one tree and not two, and a commit writes half as many pages. */
  const byKey = (table: Builder, name: string, ...columns: string[]) => {
    const keyed = primary(table, name, ...columns)
    return dialect === 'sqlite' ? keyed.modifyEnd(sql`without rowid`) : keyed
  }

  async function runs(db: Kysely<unknown>): Promise<void> {
    let table: Builder = keyColumns(db.schema.createTable('flex_runs'), 'run_id', 'tenant')
    table = text(table, 'status', 'objective', 'schema_hash', 'correlation_id')
    table = numbers(table, 'seq', 'plan_version', 'created_at', 'updated_at', 'lease_epoch')
    table = textOrNull(table, 'persona', 'variant_policy', 'thread_id', 'lease_owner', 'claim_id')
    table = numbersOrNull(
      table,
      'wake_at',
      'satisfaction_score',
      'observed_satisfaction',
      'lease_until',
      'due_at',
    )
    await byKey(table, 'flex_runs', 'run_id').execute()
    const index = (name: string, ...columns: string[]) =>
      db.schema.createIndex(`flex_runs_${name}`).on('flex_runs').columns(columns)
    await index('due', 'due_at', 'run_id').where(sql.ref('due_at'), 'is not', null).execute()
    await index('owner', 'lease_owner').where(sql.ref('lease_owner'), 'is not', null).execute()
    await index('thread', 'thread_id').where(sql.ref('thread_id'), 'is not', null).execute()
    await index('newest', 'created_at', 'run_id').execute()
    await index('tenant', 'tenant', 'created_at', 'run_id').execute()
  }

  async function journal(db: Kysely<unknown>): Promise<void> {
    let events: Builder = keyColumns(db.schema.createTable('flex_events'), 'run_id')
    events = numbers(events, 'seq', 'version', 'at', 'plan_version')
    events = textOrNull(text(events, 'type', 'payload', 'write_id'), 'node_id', 'message')
    await primary(events, 'flex_events', 'run_id', 'seq').execute()
    const values = text(keyColumns(db.schema.createTable('flex_values'), 'hash'), 'body')
    await primary(values, 'flex_values', 'hash').execute()
  }

  async function projections(db: Kysely<unknown>): Promise<void> {
    let nodes: Builder = keyColumns(db.schema.createTable('flex_plan_nodes'), 'run_id', 'node_id')
    nodes = numbers(text(nodes, 'kind', 'status'), 'position', 'plan_version', 'attempts')
    nodes = textOrNull(nodes, 'capability_id', 'label', 'output', 'error')
    nodes = numbersOrNull(nodes, 'started_at', 'ended_at', 'attempt_started_at')
    await byKey(nodes, 'flex_plan_nodes', 'run_id', 'node_id').execute()

    let snapshots: Builder = keyColumns(db.schema.createTable('flex_plan_snapshots'), 'run_id')
    snapshots = numbers(text(snapshots, 'pending_node_ids', 'plan', 'facets'), 'seq', 'plan_version', 'at')
    await primary(snapshots, 'flex_plan_snapshots', 'run_id', 'seq').execute()

    let outputs: Builder = keyColumns(db.schema.createTable('flex_run_outputs'), 'run_id')
    outputs = numbers(text(outputs, 'status', 'schema_hash'), 'plan_version', 'at')
    outputs = textOrNull(outputs, 'output', 'error', 'provenance')
    await byKey(outputs, 'flex_run_outputs', 'run_id').execute()

    let spans: Builder = keyColumns(db.schema.createTable('spans'), 'run_id', 'span_id')
    spans = textOrNull(text(spans, 'name', 'status', 'attributes'), 'parent_span_id')
    spans = numbers(spans, 'started_at', 'ended_at', 'seq')
    await byKey(spans, 'spans', 'run_id', 'span_id').execute()
  }

  async function people(db: Kysely<unknown>): Promise<void> {
    let asks: Builder = keyColumns(db.schema.createTable('hitl_requests'), 'run_id', 'request_id', 'tenant')
    asks = numbersOrNull(numbers(text(asks, 'status', 'payload'), 'created_at', 'expires_at'), 'resolved_at')
    asks = textOrNull(asks, 'pending_node_id', 'decision', 'decided_by', 'note')
    await primary(asks, 'hitl_requests', 'run_id', 'request_id').execute()
    const index = (name: string, ...columns: string[]) =>
      db.schema.createIndex(`hitl_requests_${name}`).on('hitl_requests').columns(columns)
    await index('request', 'request_id').execute()
    await index('oldest', 'status', 'created_at', 'request_id').execute()
    await index('tenant', 'tenant', 'status', 'created_at', 'request_id').execute()

    let audit: Builder = keyColumns(db.schema.createTable('hitl_events'), 'run_id')
    audit = text(audit, 'request_id', 'decided_by', 'what', 'subject_hash', 'prev', 'hash')
    await primary(numbers(audit, 'seq', 'at'), 'hitl_events', 'run_id', 'seq').execute()
  }

  /** Tables that the specifications name and that nothing wrote when they were made. */
  async function reserved(db: Kysely<unknown>): Promise<void> {
    const messages = keyColumns(db.schema.createTable('agent_messages'), 'message_id', 'flex_run_id')
    await primary(
      numbers(textOrNull(text(messages, 'role', 'body'), 'node_id'), 'at'),
      'agent_messages',
      'message_id',
    ).execute()
    await db.schema
      .createIndex('agent_messages_run')
      .on('agent_messages')
      .columns(['flex_run_id', 'at'])
      .execute()
    const traces = numbers(text(keyColumns(db.schema.createTable('traces'), 'run_id'), 'trace_data'), 'at')
    await primary(traces, 'traces', 'run_id').execute()
    const capabilities = keyColumns(db.schema.createTable('flex_capabilities'), 'tenant', 'capability_id')
    await primary(
      numbers(text(capabilities, 'body', 'status'), 'registered_at', 'last_seen_at'),
      'flex_capabilities',
      'tenant',
      'capability_id',
    ).execute()
  }

  /**
   * Tables of the server. `flex_capabilities` has been empty since the first migration. A column that is added to a table
   * needs a default, because processes of the previous version still insert rows.
   */
  async function server(db: Kysely<unknown>): Promise<void> {
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

    let tokens: Builder = keyColumns(db.schema.createTable('api_tokens'), 'token_id', 'tenant', 'hash')
    tokens = textOrNull(text(tokens, 'role', 'name'), 'capability_id')
    tokens = numbersOrNull(numbers(tokens, 'created_at'), 'expires_at', 'revoked_at')
    await primary(tokens, 'api_tokens', 'token_id').execute()
    await index('api_tokens', 'hash', 'hash')
    await index('api_tokens', 'tenant', 'tenant', 'created_at', 'token_id')

    const names = keyColumns(db.schema.createTable('once_names'), 'name_hash')
    await primary(
      numbers(text(names, 'name', 'body', 'take_id'), 'taken_at', 'expires_at'),
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
  async function uses(db: Kysely<unknown>): Promise<void> {
    const table = keyColumns(db.schema.createTable('flex_value_uses'), 'hash', 'run_id')
    await primary(table, 'flex_value_uses', 'hash', 'run_id').execute()
    await db.schema.createIndex('flex_value_uses_run').on('flex_value_uses').column('run_id').execute()
    await sql`insert into ${sql.table('flex_value_uses')} select hash, '' from ${sql.table('flex_values')}`.execute(
      db,
    )
  }

  /**
   * What health figures are added up from. The index has the attempts that called a model, by time, with all that is asked
   * for, so that nothing else is read; PostgreSQL, whose entries must be small, has the time alone. Spans from before have
   * nothing in the new columns, and are not counted.
   */
  async function health(db: Kysely<unknown>): Promise<void> {
    const add = (table: string, name: string, type: 'text' | typeof number) =>
      db.schema.alterTable(table).addColumn(name, type).execute()
    await add('flex_plan_nodes', 'signals', 'text')
    const names = ['node_id', 'model_id', 'signals']
    const amounts = ['calls', 'input_tokens', 'output_tokens', 'cost_usd', 'cost_unknown'].map(
      (name) => `repair_${name}`,
    )
    for (const name of names) await add('spans', name, 'text')
    for (const name of amounts) await add('spans', name, number)
    const covered = dialect === 'sqlite' ? [...names, 'run_id', ...amounts] : []
    await db.schema
      .createIndex('spans_health')
      .on('spans')
      .columns(['ended_at', ...covered])
      .where(sql.ref('signals'), 'is not', null)
      .execute()
  }

  /**
   * What a message needs besides what was reserved for it, and an index by which those of a run are found in order. Asks
   * and their audit get the run under the name that messages have, so that all three can be joined by it (FLEX-86); it is
   * computed, so that a process of the version before writes as it did. What was asked before has no messages.
   */
  async function messages(db: Kysely<unknown>): Promise<void> {
    const added = [
      ['tenant', key, ''],
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
        .addColumn('flex_run_id', key, (column) => {
          const computed = column.generatedAlwaysAs(sql.ref('run_id'))
          return dialect === 'postgres' ? computed.stored() : computed
        })
        .execute()
    }
  }

  /** The pipeline of a run; unknown for earlier runs. */
  async function pipelines(db: Kysely<unknown>): Promise<void> {
    await db.schema.alterTable('flex_runs').addColumn('pipeline', 'text').execute()
  }

  /**
   * Nodes are kept by plan version, with the hash of what they were given and whether their output held; outputs get the
   * facets at the end. Rows from before keep the version that they had. SQLite cannot change a key: the table is copied.
   */
  async function nodeVersions(db: Kysely<unknown>): Promise<void> {
    const table = 'flex_plan_nodes'
    for (const name of ['context_hash', 'validation_status'])
      await db.schema.alterTable(table).addColumn(name, 'text').execute()
    await db.schema.alterTable('flex_run_outputs').addColumn('facets', 'text').execute()
    const columns = ['run_id', 'node_id', 'plan_version']
    if (dialect === 'postgres') {
      await db.schema.alterTable(table).dropConstraint(`${table}_key`).execute()
      await db.schema
        .alterTable(table)
        .addPrimaryKeyConstraint(`${table}_key`, columns as never[])
        .execute()
      return
    }
    const copy = `${table}_copy`
    let nodes: Builder = keyColumns(db.schema.createTable(copy), 'run_id', 'node_id')
    nodes = numbers(text(nodes, 'kind', 'status'), 'position', 'plan_version', 'attempts')
    nodes = textOrNull(nodes, 'capability_id', 'label', 'output', 'error')
    nodes = numbersOrNull(nodes, 'started_at', 'ended_at', 'attempt_started_at')
    nodes = textOrNull(nodes, 'signals', 'context_hash', 'validation_status')
    await byKey(nodes, table, ...columns).execute()
    // Both list their columns in the same order: the old one had them added at its end.
    await sql`insert into ${sql.table(copy)} select * from ${sql.table(table)}`.execute(db)
    await db.schema.dropTable(table).execute()
    await db.schema.alterTable(copy).renameTo(table).execute()
  }

  return {
    '0001_first_tables': {
      async up(db: Kysely<unknown>) {
        for (const create of [runs, journal, projections, people, reserved]) await create(db)
      },
    },
    '0002_server_tables': { up: server },
    '0003_value_uses': { up: uses },
    '0004_health_columns': { up: health },
    '0005_messages': { up: messages },
    '0006_pipeline_names': { up: pipelines },
    '0007_node_versions': { up: nodeVersions },
  }
}
