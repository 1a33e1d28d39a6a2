import { copyFileSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Migrator } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Append } from '../../../domain/ports/store.ts'
import { storeSuite } from '../../../testing/store-suite.ts'
import {
  logEvent,
  newRun,
  runningHead,
  sampleAsk,
  sampleEvent,
  startEvent,
} from '../../../testing/stores/sample.ts'
import { sqliteDialect } from '../sql/dialects/sqlite-dialect.ts'
import { listMigrations } from '../sql/migrations/migrate.ts'
import { openLibsql } from './drivers/libsql.ts'
import { sqliteBuilder } from './open-sqlite.ts'
import { type OpenSqlite, openSqliteStore } from './sqlite.ts'

const long = process.env['PROVISO_LONG'] === '1'
let folder: string
let files = 0
const newPath = () => join(folder, `${++files}.db`)
/** An empty store with all tables: copying it takes a fraction of making them, which tests of their own do. */
const emptyPath = () => join(folder, 'empty.db')

// In a hook: when a filter skips every test nothing is made, because nothing would remove it.
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'proviso-sqlite-'))
  await (await openSqliteStore({ path: emptyPath() })).close()
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Node 20 has no `node:sqlite`; `test/stores/node-versions.test.ts` runs this file on newer versions. */
const hasNodeSqlite = process.getBuiltinModule?.('node:sqlite') !== undefined

for (const driver of hasNodeSqlite ? (['libsql', 'node'] as const) : (['libsql'] as const))
  storeSuite(
    `sqlite (${driver})`,
    async () => {
      const path = newPath()
      copyFileSync(emptyPath(), path)
      let now = 1_700_000_000_000
      return {
        store: await openSqliteStore({ path, driver, clock: { now: () => now } }),
        elapse: async (ms) => {
          now += ms
        },
        countValues: async () => Number(query(path, 'select count(*) as n from flex_values')[0]?.['n']),
      }
    },
    { describe, it, expect, long },
  )

function query(path: string, sql: string) {
  const connection = openLibsql(path)
  try {
    return connection.execute(sql)
  } finally {
    connection.close()
  }
}

describe('a SQLite file', () => {
  it('has everything again when it is opened again', async () => {
    const path = newPath()
    const first = await openSqliteStore({ path })
    await first.create(newRun('r'))
    await first.append({ runId: 'r', expectedSeq: 1, events: [logEvent(1)], head: runningHead })
    await first.close()
    const second = await openSqliteStore({ path })
    expect((await second.read('r', 0)).map(({ seq }) => seq)).toEqual([1, 2])
    await second.close()
  })

  it('can be opened after a process died while it made the tables', async () => {
    const path = newPath()
    let left = 6
    const dies = (file: string) => {
      const connection = openLibsql(file)
      const execute: typeof connection.execute = (sql, ...rest) => {
        if (/^create table/.test(sql) && --left === 0) throw new Error('died')
        return connection.execute(sql, ...rest)
      }
      return Object.create(connection, { execute: { value: execute } })
    }
    await expect(openSqliteStore({ path, open: dies })).rejects.toMatchObject({ code: 'store/unavailable' })
    const store = await openSqliteStore({ path })
    expect(await store.create(newRun('r'))).toBe(true)
    await store.close()
  })

  it('gives away at once what a process held that is gone', async () => {
    const path = newPath()
    const first = await openSqliteStore({ path })
    const lease = await first.create({ ...newRun('held'), claim: { owner: 'gone', leaseMs: 60_000 } })
    await first.create({ ...newRun('waits'), head: { ...runningHead, wakeAt: Date.now() + 60_000 } })
    await first.close()
    const second = await openSqliteStore({ path })
    const claims = await second.claim({ owner: 'heir', leaseMs: 60_000, limit: 10 })
    expect(claims).toEqual([{ runId: 'held', tenant: 't-1', lease: { owner: 'heir', epoch: 2 } }])
    const late = { runId: 'held', expectedSeq: 1, events: [logEvent(1)], head: runningHead, lease } as Append
    expect(await second.append(late)).toEqual({ kind: 'fenced' })
    await second.close()
  })

  it('puts appends that are pending together into one transaction', async () => {
    const path = newPath()
    const statements: string[] = []
    const store = await openSqliteStore({
      path,
      open: (file) => {
        const connection = openLibsql(file)
        return {
          execute(sql, ...rest) {
            statements.push(sql)
            return connection.execute(sql, ...rest)
          },
          get inTransaction() {
            return connection.inTransaction
          },
          close: () => connection.close(),
        }
      },
    })
    await Promise.all(Array.from({ length: 50 }, (_, index) => store.create(newRun(`r-${index}`))))
    statements.length = 0
    const appends = Array.from({ length: 50 }, (_, index) =>
      store.append({ runId: `r-${index}`, expectedSeq: 1, events: [logEvent(1)], head: runningHead }),
    )
    await Promise.all(appends)
    expect(statements.filter((sql) => sql === 'commit').length).toBe(1)
    await store.close()
  })

  it('has one writer, and says which file is taken', async () => {
    const path = newPath()
    const store = await openSqliteStore({ path })
    await expect(openSqliteStore({ path })).rejects.toMatchObject({
      code: 'store/locked',
      message: `This process is writing to ${path} already`,
    })
    await store.close()
    await (await openSqliteStore({ path })).close()
  })

  it('has one writer, also through symbolic links', async () => {
    const path = newPath()
    const [link, early] = [`${path}-link`, `${path}-early`]
    symlinkSync(path, early)
    const store = await openSqliteStore({ path: early })
    symlinkSync(path, link)
    for (const way of [path, link, early])
      await expect(openSqliteStore({ path: way }), way).rejects.toMatchObject({ code: 'store/locked' })
    await store.close()
    await (await openSqliteStore({ path: link })).close()
  })

  it('does not take a lock that is broken for one that another process holds', async () => {
    const path = newPath()
    writeFileSync(`${path}-writer`, 'no database '.repeat(100))
    await expect(openSqliteStore({ path })).rejects.toMatchObject({
      code: 'store/unavailable',
      message: `Cannot lock ${path} for writing: file is not a database`,
      hint: expect.stringContaining(`${path}-writer`),
    })
  })

  it('is followed by a reader that never writes', async () => {
    const path = newPath()
    const store = await openSqliteStore({ path })
    const reader = await openSqliteStore({ path, readOnly: true, pollMs: 5 })
    const woken = new Promise<string>((resolve) => reader.onChange(resolve))
    await store.create(newRun('r'))
    expect(await woken).toBe('r')
    expect((await reader.head('r'))?.seq).toBe(1)
    const refused = { code: 'store/unavailable', message: expect.stringContaining('for reading only') }
    await expect(reader.create(newRun('s'))).rejects.toMatchObject(refused)
    const { tokens, registrations, once } = reader.records
    const writes = [
      tokens.revoke('t'),
      registrations.remove({ tenant: 't', capabilityId: 'c' }),
      once.take('n', { body: 1, keepMs: 1 }),
    ]
    for (const write of writes) await expect(write).rejects.toMatchObject(refused)
    expect(await tokens.list({})).toEqual([])
    await reader.close()
    await store.close()
  })

  it('continues to follow the file when a poll fails', async () => {
    const path = newPath()
    const store = await openSqliteStore({ path })
    let fails = 0
    const reader = await openSqliteStore({
      path,
      readOnly: true,
      pollMs: 5,
      open: (file) => {
        const connection = openLibsql(file)
        return {
          execute(sql, ...rest) {
            // Within the look, and at its beginning.
            const broken =
              fails > 0 && (fails % 2 === 0 ? sql.includes('max(seq)') : sql.includes('data_version'))
            if (broken) {
              fails -= 1
              throw Object.assign(new Error('disk I/O error'), { code: 'SQLITE_IOERR' })
            }
            return connection.execute(sql, ...rest)
          },
          get inTransaction() {
            return connection.inTransaction
          },
          close: () => connection.close(),
        }
      },
    })
    const notified: string[] = []
    const woken = new Promise<void>((resolve) =>
      reader.onChange((runId) => {
        notified.push(runId)
        if (runId === 's') resolve()
      }),
    )
    fails = 4
    await store.create(newRun('r'))
    await store.create(newRun('s'))
    await woken
    expect(new Set(notified)).toEqual(new Set(['r', 's']))
    expect(fails).toBe(0)
    expect((await reader.head('s'))?.seq).toBe(1)
    await reader.close()
    await store.close()
  })

  it('of the first release gets the tables that came later, and keeps what it has', async () => {
    const path = newPath()
    const connection = openLibsql(path)
    const { '0001_first_tables': first } = listMigrations(sqliteDialect)
    const migrator = new Migrator({
      db: sqliteBuilder<unknown>(connection),
      provider: { getMigrations: async () => (first ? { '0001_first_tables': first } : {}) },
      migrationTableName: 'proviso_migrations',
      migrationLockTableName: 'proviso_migrations_lock',
    })
    expect((await migrator.migrateToLatest()).error).toBe(undefined)
    const values = `'t', 'old', '{"capabilityId":"old"}', 'active', 1, 1`
    connection.execute(
      `insert into flex_capabilities (tenant, capability_id, body, status, registered_at, last_seen_at) values (${values})`,
    )
    connection.close()
    await expect(openSqliteStore({ path, readOnly: true })).rejects.toMatchObject({
      message: expect.stringContaining('not have the tables of this version'),
    })
    const store = await openSqliteStore({ path })
    const [old] = await store.records.registrations.list({})
    expect(old).toMatchObject({ capabilityId: 'old', endpoint: null, status: 'inactive', tokenId: '' })
    await store.close()
  })

  it('does not grow with names whose time is over', async () => {
    const path = newPath()
    let now = 1_000
    const store = await openSqliteStore({ path, synchronous: 'NORMAL', clock: { now: () => now } })
    const { once } = store.records
    const take = (name: string) => once.take(name, { body: null, keepMs: 10 })
    for (let index = 0; index < 250; index++) await take(`n-${index}`)
    now += 10
    const left = () => Number(query(path, 'select count(*) as n from once_names')[0]?.['n'])
    const counts: number[] = []
    for (let index = 0; index < 4; index++) {
      await take(`new-${index}`)
      counts.push(left())
    }
    expect(counts, 'a hundred at a time').toEqual([151, 52, 3, 4])
    await store.close()
  })

  it('is followed by a reader also when the newest rows were pruned and their numbers given again', async () => {
    const path = newPath()
    const store = await openSqliteStore({ path })
    const events = Array.from({ length: 20 }, (_, index) => logEvent(index))
    await store.create(newRun('old', { events, head: { status: 'completed', planVersion: 0 } }))
    const reader = await openSqliteStore({ path, readOnly: true, pollMs: 5 })
    const woken = new Promise<void>((resolve) => reader.onChange((runId) => runId === 'new' && resolve()))
    await store.prune({ before: Number.MAX_SAFE_INTEGER })
    await store.create(newRun('new'))
    await woken
    expect(await reader.head('old')).toBe(undefined)
    await reader.close()
    await store.close()
  })

  it('keeps large values whose uses are unknown', async () => {
    const path = newPath()
    const first = await openSqliteStore({ path })
    const head = { status: 'completed', planVersion: 0 } as const
    await first.create(newRun('old', { events: [logEvent('x'.repeat(20_000))], head }))
    await first.close()
    undoHealthColumns(path)
    query(path, 'drop table flex_value_uses')
    query(path, `delete from proviso_migrations where name = '0003_value_uses'`)
    const store = await openSqliteStore({ path })
    expect(await store.prune({ before: Number.MAX_SAFE_INTEGER, dryRun: true })).toMatchObject({ values: 0 })
    expect(await store.prune({ before: Number.MAX_SAFE_INTEGER })).toEqual({ runs: 1, events: 1, values: 0 })
    expect(query(path, 'select hash from flex_values').length).toBe(1)
    await store.close()
  })

  it('reads any part of a journal from the file, in which several events share a row', async () => {
    const path = newPath()
    const first = await openSqliteStore({ path })
    await first.create(newRun('r', { events: [startEvent(), logEvent(1), logEvent(2)] }))
    const events = Array.from({ length: 150 }, (_, value) => logEvent(value))
    await first.append({ runId: 'r', expectedSeq: 3, events, head: runningHead })
    const all = await first.read('r', 0)
    await first.close()
    expect(query(path, 'select seq, events from flex_events order by seq').length).toBe(5)
    const store = await openSqliteStore({ path })
    for (const after of [0, 1, 2, 3, 40, 66, 67, 68, 152, 153])
      for (const limit of [1, 2, 63, 64, 65, 200])
        expect(await store.read('r', after, limit)).toEqual(all.slice(after, after + limit))
    await store.close()
  })

  it('reads an event without the large values of the events after it', async () => {
    const path = newPath()
    const first = await openSqliteStore({ path })
    await first.create(newRun('r'))
    for (const seq of [1, 2, 3]) {
      const events = [logEvent(`${seq}${'x'.repeat(9_000)}`)]
      await first.append({ runId: 'r', expectedSeq: seq, events, head: runningHead })
    }
    await first.close()
    const loaded: unknown[] = []
    const open: OpenSqlite = (file) => {
      const connection = openLibsql(file)
      return {
        execute(...statement) {
          const rows = connection.execute(...statement)
          loaded.push(...rows.flatMap(({ body }) => (body === undefined ? [] : [body])))
          return rows
        },
        get inTransaction() {
          return connection.inTransaction
        },
        close: () => connection.close(),
      }
    }
    const store = await openSqliteStore({ path, open })
    for (const [after, values] of [0, 1, 1, 1].entries()) {
      loaded.length = 0
      expect(await store.read('r', after, 1)).toHaveLength(1)
      expect(loaded).toHaveLength(values)
    }
    await store.close()
  })

  it('keeps rows of spans only for what health figures count, and gives all of them', async () => {
    const path = newPath()
    const store = await openSqliteStore({ path })
    const events = [...attemptOf('a/m'), logEvent(1)]
    await store.create(newRun('counted', { events }))
    await store.create(newRun('local', { events: [...attemptOf(), logEvent(1)] }))
    const names = async (runId: string) => (await store.spans(runId)).map(({ name }) => name)
    expect([await names('counted'), await names('local')]).toEqual([['attempt'], ['attempt']])
    expect(query(path, 'select run_id, name from spans')).toEqual([{ run_id: 'counted', name: 'attempt' }])
    await store.close()
  })

  it('of a version without health figures gets their columns, and counts from there on', async () => {
    const path = newPath()
    const events = attemptOf('a/m')
    const first = await openSqliteStore({ path })
    await first.create(newRun('old', { events }))
    await first.close()
    undoHealthColumns(path)
    const store = await openSqliteStore({ path })
    expect((await store.spans('old')).length).toBe(1)
    expect((await store.sample({})).runs.total).toBe(0)
    await store.create(newRun('new', { events }))
    expect((await store.sample({})).runs).toEqual({ total: 1, byNode: { write: 1 }, byModel: { 'a/m': 1 } })
    await store.close()
  })

  it('of a version without messages gets them, has none of what was asked before, and joins them by the run', async () => {
    const path = newPath()
    const asked = (requestId: string) => [
      startEvent(),
      sampleEvent('hitl_request', {
        ...sampleAsk(requestId),
        audit: { prev: '', subjectHash: 'v', hash: requestId },
      }),
    ]
    const first = await openSqliteStore({ path })
    await first.create(newRun('old', { events: asked('q-old') }))
    await first.close()
    query(path, 'delete from agent_messages')
    undoMessages(path)
    const store = await openSqliteStore({ path })
    await store.create(newRun('new', { events: asked('q-new') }))
    expect(await store.messages('old')).toEqual([])
    expect((await store.messages('new')).map(({ requestId, role }) => [requestId, role])).toEqual([
      ['q-new', 'agent'],
    ])
    const joined = `select flex_run_id, m.role, r.status, e.what from agent_messages m
      join hitl_requests r using (flex_run_id) join hitl_events e using (flex_run_id)`
    expect(query(path, joined)).toEqual([
      { flex_run_id: 'new', role: 'agent', status: 'pending', what: 'asked' },
    ])
    await store.close()
  })

  it.each(['', '-wal'])(
    'writes nothing that it refuses once a file is seen to be missing: runs.db%s',
    async (end) => {
      const path = newPath()
      const store = await openSqliteStore({ path })
      await store.create(newRun('before'))
      renameSync(path + end, `${path}-away`)
      const refused = Array.from({ length: 20 }, (_, nth) => `refused-${nth}`)
      for (const runId of refused)
        await expect(store.create(newRun(runId))).rejects.toMatchObject({ code: 'store/replaced' })
      renameSync(`${path}-away`, path + end)
      const written = (await store.runs({ limit: 100 })).map(({ runId }) => runId)
      // The outcome of the first refusal is unknown: it may be the one that noticed.
      expect(written.filter((runId) => runId !== refused[0])).toEqual(['before'])
      await store.create(newRun('after'))
      await store.close()
    },
  )

  it('is refused when a newer version has written it, or when it is not a database', async () => {
    const path = newPath()
    await (await openSqliteStore({ path })).close()
    query(path, `insert into proviso_migrations values ('9999_future', '2099')`)
    await expect(openSqliteStore({ path })).rejects.toMatchObject({
      code: 'store/newer',
      message: expect.stringContaining('9999_future'),
    })
    await expect(openSqliteStore({ path: ':memory:' })).rejects.toMatchObject({ code: 'option/invalid' })
    await expect(openSqliteStore({ path: newPath(), readOnly: true })).rejects.toMatchObject({
      code: 'store/unavailable',
    })
    const inside = mkdtempSync(join(folder, 'no-file-'))
    await expect(openSqliteStore({ path: inside })).rejects.toMatchObject({
      code: expect.stringMatching(/store/),
    })
  })
})

/** The tables as they were before a migration, and before those after it. */
/** The table as the first migration made it, with one row per node. */
function undoOperationsAudit(path: string): void {
  query(path, 'alter table flex_events drop column events')
  query(path, 'alter table flex_runs drop column nodes_seq')
  query(path, `delete from proviso_migrations where name = '0015_packed_events'`)
  query(path, 'drop index flex_runs_priority')
  for (const name of ['priority', 'placement']) query(path, `alter table flex_runs drop column ${name}`)
  query(path, `delete from proviso_migrations where name = '0014_placement'`)
  query(path, 'drop index flex_runs_cost')
  query(path, `delete from proviso_migrations where name = '0013_cost_index'`)
  for (const name of ['cost_usd', 'tokens']) query(path, `alter table flex_runs drop column ${name}`)
  query(path, `delete from proviso_migrations where name = '0012_run_costs'`)
  query(path, 'drop table flex_documents')
  query(path, `delete from proviso_migrations where name = '0011_documents'`)
  query(path, 'alter table api_tokens drop column task_roles')
  query(path, `delete from proviso_migrations where name = '0010_task_roles'`)
  query(path, 'drop index flex_runs_quarantined')
  query(path, `delete from proviso_migrations where name = '0009_quarantined_runs'`)
  query(path, 'drop table operations_audit')
  query(path, 'alter table api_tokens drop column family_id')
  query(path, `delete from proviso_migrations where name = '0008_operations_audit'`)
}

function undoNodeVersions(path: string): void {
  undoOperationsAudit(path)
  for (const name of ['context_hash', 'validation_status'])
    query(path, `alter table flex_plan_nodes drop column ${name}`)
  query(path, 'alter table flex_run_outputs drop column facets')
  const [table] = query(path, `select sql from sqlite_master where name = 'flex_plan_nodes'`)
  const old = String(table?.['sql'])
    .replace(/flex_plan_nodes(_copy)?"? \(/, 'old_nodes" (')
    .replace('"node_id", "plan_version")', '"node_id")')
  query(path, old)
  query(path, 'insert into old_nodes select * from flex_plan_nodes')
  query(path, 'drop table flex_plan_nodes')
  query(path, 'alter table old_nodes rename to flex_plan_nodes')
  query(path, `delete from proviso_migrations where name = '0007_node_versions'`)
}

function undoPipelineNames(path: string): void {
  undoNodeVersions(path)
  query(path, 'alter table flex_runs drop column pipeline')
  query(path, `delete from proviso_migrations where name = '0006_pipeline_names'`)
}

function undoMessages(path: string): void {
  undoPipelineNames(path)
  for (const table of ['hitl_requests', 'hitl_events'])
    query(path, `alter table ${table} drop column flex_run_id`)
  query(path, 'drop index agent_messages_order')
  query(path, 'create index agent_messages_run on agent_messages (flex_run_id, at)')
  for (const name of ['tenant', 'request_id', 'seq'])
    query(path, `alter table agent_messages drop column ${name}`)
  query(path, `delete from proviso_migrations where name = '0005_messages'`)
}

function undoHealthColumns(path: string): void {
  undoMessages(path)
  query(path, 'drop index spans_health')
  const amounts = ['calls', 'input_tokens', 'output_tokens', 'cost_usd', 'cost_unknown']
  for (const name of ['node_id', 'model_id', 'signals', ...amounts.map((amount) => `repair_${amount}`)])
    query(path, `alter table spans drop column ${name}`)
  query(path, 'alter table flex_plan_nodes drop column signals')
  query(path, `delete from proviso_migrations where name = '0004_health_columns'`)
}

function attemptOf(model?: string) {
  const start = { attempt: 1, capabilityId: 'c', idempotencyKey: 'k', idempotent: true, inputs: {} } as const
  const end = { attempt: 1, outcome: 'ok', issues: [], usage: { calls: 1 }, ...(model && { model }) } as const
  const at = { nodeId: 'write' }
  return [startEvent(), sampleEvent('attempt_start', start, at), sampleEvent('attempt_end', end, at)]
}
