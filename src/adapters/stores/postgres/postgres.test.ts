import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Cluster, missingPostgres, start } from '../../../../scripts/postgres.mjs'
import type { Store } from '../../../domain/ports/store.ts'
import { storeSuite } from '../../../testing/store-suite.ts'
import {
  logEvent,
  newRun,
  planEvent,
  runningHead,
  sampleAsk,
  sampleEvent,
  startEvent,
} from '../../../testing/stores/sample.ts'
import { attemptEvents, type TraceEntry } from '../../../testing/stores/sampling.ts'
import { openPostgresStore } from './postgres.ts'

const long = process.env['PROVISO_LONG'] === '1'
const missing = missingPostgres()
let cluster: Cluster
let schemas = 0

async function query(sql: string, { url } = cluster): Promise<Record<string, unknown>[]> {
  const client = new Client(url)
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}

/** Drops tables of finished tests, which would slow down schema queries of the others. */
async function drop(schema: string): Promise<void> {
  await query(`drop schema if exists ${schema} cascade`)
}

/** Schemas of finished tests, empty again: creating all tables takes longer than most tests. */
const emptied: string[] = []

/** Deletes all rows but those of the migrations. */
async function empty(schema: string): Promise<void> {
  await query(`do $$ declare name text; begin
    for name in select tablename from pg_tables where schemaname = '${schema}' and tablename not like 'proviso%migrations%' loop
      execute format('delete from %I.%I', '${schema}', name);
    end loop;
  end $$`)
  emptied.push(schema)
}

describe.skipIf(missing !== undefined)('with a PostgreSQL server', () => {
  beforeAll(async () => {
    cluster = await start()
  })
  afterAll(() => cluster?.stop())

  storeSuite(
    'postgres',
    async () => {
      const schema = emptied.pop() ?? `suite_${++schemas}`
      const store = await openPostgresStore({ url: cluster.url, schema })
      return {
        store: { ...store, close: () => store.close().then(() => empty(schema)) },
        elapse: async (ms) => {
          await query(`select pg_sleep(${ms / 1_000})`)
        },
        countValues: async () =>
          Number((await query(`select count(*) as n from ${schema}.flex_values`))[0]?.['n']),
      }
    },
    { describe, it, expect, long },
  )

  describe('several processes on one server', () => {
    it('append to one run without a gap, and wake each other', async () => {
      const schema = `several_${++schemas}`
      const open = () => openPostgresStore({ url: cluster.url, schema })
      const stores = await Promise.all([open(), open(), open()])
      const [first, second] = stores
      await first.create(newRun('r'))
      const woken = new Set<string>()
      second.onChange((runId) => woken.add(runId))
      let others = 0
      const anotherRun = async () => {
        others += 1
        await first.create(newRun(`other-${others}`))
        return woken.size
      }
      await expect.poll(anotherRun, { timeout: 10_000 }).toBeGreaterThan(0)
      await Promise.all(stores.map((store, index) => appendMany(store, `s-${index}`, 30)))
      const seqs = (await first.read('r', 0)).map(({ seq }) => seq)
      expect(seqs).toEqual(Array.from({ length: 91 }, (_, index) => index + 1))
      await Promise.all(stores.map((store) => store.close()))
    })

    it('pass a run that has only begun to another, which writes its rows and reports its end', async () => {
      const schema = `begun_${++schemas}`
      const open = () => openPostgresStore({ url: cluster.url, schema })
      const [api, worker] = await Promise.all([open(), open()])
      const states: (readonly [seq: number, isSettled: boolean | undefined])[] = []
      let others = 0
      let notified = 0
      api.onChange((runId, seq, _isFree, isSettled) => {
        if (runId === 'r') states.push([seq, isSettled])
        else notified += 1
      })
      const anotherRun = async () => {
        others += 1
        const claimed = { owner: 'w', leaseMs: 60_000 }
        await worker.create({ ...newRun(`other-${others}`), claim: claimed })
        return notified
      }
      await expect.poll(anotherRun, { timeout: 10_000 }).toBeGreaterThan(0)
      await api.create(newRun('r'))
      const [claim] = await worker.claim({ owner: 'w', leaseMs: 60_000, limit: 1 })
      const { runId, lease } = claim as NonNullable<typeof claim>
      expect(runId).toBe('r')
      const output = { value: { text: 'Tea' } }
      const attempt = { attempt: 1, outcome: 'ok', output, issues: [], usage: { calls: 1 } } as const
      const node = { nodeId: 'write' }
      const steps = [
        [planEvent()],
        [sampleEvent('attempt_end', attempt, node)],
        [sampleEvent('node_complete', { output, attempt: 1 }, node)],
      ]
      let expectedSeq = 1
      for (const events of steps)
        expect(
          await worker.append({ runId: 'r', expectedSeq: expectedSeq++, events, head: runningHead, lease }),
        ).toMatchObject({ kind: 'appended' })
      const rows = await api.nodes('r')
      expect(rows.find(({ nodeId }) => nodeId === 'write')).toMatchObject({
        status: 'completed',
        output: { text: 'Tea' },
      })
      const events = [sampleEvent('complete', { status: 'completed', output: { text: 'Tea' } })]
      const head = { status: 'completed', planVersion: 1 } as const
      await worker.append({ runId: 'r', expectedSeq, events, head, lease, release: true })
      await expect.poll(() => states.at(-1), { timeout: 10_000 }).toEqual([5, true])
      expect(states.filter(([seq, isSettled]) => seq < 5 && isSettled)).toEqual([])
      await Promise.all([api.close(), worker.close()])
    })

    it('take a name, register and reckon time as one', async () => {
      const schema = `records_${++schemas}`
      const open = () => openPostgresStore({ url: cluster.url, schema })
      const stores = await Promise.all([open(), open(), open()])
      for (let round = 0; round < 20; round++) {
        const takes = await Promise.all(
          stores.map(({ records }, body) => records.once.take(`n-${round}`, { body, keepMs: 60_000 })),
        )
        const winner = takes.findIndex(({ kind }) => kind === 'taken')
        expect(takes.filter(({ kind }) => kind === 'taken').length).toBe(1)
        expect(takes.every((take) => take.kind === 'taken' || take.body === winner)).toBe(true)
        const claims = await Promise.all(
          stores.map(({ records }, index) =>
            records.registrations.put({
              tenant: 't',
              capabilityId: `c-${round}`,
              payload: index,
              endpoint: null,
              ttlMs: 60_000,
              tokenId: `o-${index}`,
            }),
          ),
        )
        expect(claims.filter((claim) => claim !== undefined).length).toBe(1)
      }
      const before = Number((await query('select extract(epoch from now()) * 1000 as now'))[0]?.['now'])
      const token = { tokenId: 'a', tenant: 't', role: 'caller', name: 'a', hash: 'h' } as const
      const { createdAt } = await stores[0].records.tokens.add(token)
      expect(createdAt).toBeGreaterThanOrEqual(Math.floor(before))
      expect((await stores[1].records.tokens.byHash('h'))?.createdAt).toBe(createdAt)
      await Promise.all(stores.map((store) => store.close()))
    })

    it('loses and doubles nothing when the server dies again and again', async () => {
      // Its own server: one that has the files of all other tests to sync takes longer to start again than clients wait.
      const server = await start()
      const store = await openPostgresStore({ url: server.url })
      const woken = new Set<string>()
      store.onChange((runId) => woken.add(runId))
      let stop = false
      const writer = async (runId: string) => {
        await store.create(newRun(runId))
        let acknowledged = 1
        while (!stop) {
          const events = [logEvent(`${runId}-${acknowledged}`)]
          const result = await store.append({ runId, expectedSeq: acknowledged, events, head: runningHead })
          // No other process writes to this run: any result but an append is a lost or duplicate write.
          expect(result).toEqual({ kind: 'appended', seq: acknowledged + 1 })
          acknowledged += 1
        }
        return acknowledged
      }
      const ids = Array.from({ length: 6 }, (_, index) => `r-${index}`)
      const writers = ids.map(writer)
      for (let restart = 0; restart < (long ? 20 : 4); restart++) {
        const before = (await store.head('r-0'))?.seq ?? 0
        await expect
          .poll(async () => (await store.head('r-0'))?.seq ?? 0, { timeout: 30_000 })
          .toBeGreaterThan(before)
        server.restartImmediate()
      }
      stop = true
      const acknowledged = await Promise.all(writers)
      for (const [index, runId] of ids.entries()) {
        const events = await store.read(runId, 0, 1_000_000)
        expect(events.length).toBe(acknowledged[index])
        expect(
          events.slice(1).map(({ payload }) => (payload as { payload: { value: string } }).payload.value),
        ).toEqual(Array.from({ length: events.length - 1 }, (_, at) => `${runId}-${at + 1}`))
      }
      await store.close()
      // A connection that is forgotten would keep the process alive.
      const left = `select count(*)::int as n from pg_stat_activity where application_name = 'proviso'`
      await expect.poll(async () => (await query(left, server))[0]?.['n'], { timeout: 30_000 }).toBe(0)
      server.stop()
    }, 120_000)
  })

  it('keeps a ledger of corrections if it is enabled, and has no table for it otherwise', async () => {
    const schema = `ledger_${++schemas}`
    const made = () =>
      query(`select table_name from information_schema.tables
             where table_schema = '${schema}' and table_name = 'correction_ledger'`)
    const trace: TraceEntry[] = [['output.coercion.success', { stage: 'semantic', transforms: ['str->int'] }]]
    const events = [startEvent(), planEvent(), ...attemptEvents({ model: 'a/m', trace, endedAt: 5_000 })]
    const off = await openPostgresStore({ url: cluster.url, schema })
    await off.create(newRun('off', { events }))
    expect(off.ledger).toBe(undefined)
    expect(await made()).toEqual([])
    await off.close()
    const on = await openPostgresStore({ url: cluster.url, schema, ledger: true })
    await on.create(newRun('on', { events }))
    expect(await on.ledger?.list({})).toMatchObject([
      {
        id: 'on:5:0',
        timestamp: 5_000,
        stage: 'semantic',
        transformsApplied: ['str->int'],
        latencyMsSaved: 10,
      },
    ])
    await on.close()
    await drop(schema)
  })

  it('joins asks, their audit and messages by the run', async () => {
    const schema = 'joined'
    const store = await openPostgresStore({ url: cluster.url, schema })
    const ask = { ...sampleAsk('q'), audit: { prev: '', subjectHash: 'v', hash: 'h' } }
    await store.create(newRun('r', { events: [startEvent(), sampleEvent('hitl_request', ask)] }))
    const rows = await query(`select flex_run_id, m.role, r.status, e.what from joined.agent_messages m
      join joined.hitl_requests r using (flex_run_id) join joined.hitl_events e using (flex_run_id)`)
    expect(rows).toEqual([{ flex_run_id: 'r', role: 'agent', status: 'pending', what: 'asked' }])
    await store.close()
    await drop(schema)
  })

  it('a reader creates no tables and changes nothing', async () => {
    const schema = 'reader_only'
    const options = { url: cluster.url, schema }
    const tables = () => query(`select 1 from information_schema.tables where table_schema = '${schema}'`)
    await expect(openPostgresStore({ ...options, readOnly: true })).rejects.toMatchObject({
      code: 'store/unavailable',
      message: expect.stringContaining('does not have the tables of this version'),
    })
    expect(await tables()).toEqual([])
    const writer = await openPostgresStore(options)
    await writer.create(newRun('r'))
    const reader = await openPostgresStore({ ...options, readOnly: true })
    expect(await reader.head('r')).toMatchObject({ seq: 1 })
    await expect(reader.create(newRun('other'))).rejects.toMatchObject({ code: 'store/unavailable' })
    await query(`delete from "${schema}".proviso_migrations where name like '0014%'`)
    await expect(openPostgresStore({ ...options, readOnly: true })).rejects.toThrow(/tables of this version/)
    await reader.close()
    await writer.close()
    await drop(schema)
  })

  it('refuses addresses that cannot work, and tables of a newer version', async () => {
    await expect(openPostgresStore({ url: 'nonsense' })).rejects.toMatchObject({ code: 'option/invalid' })
    await expect(openPostgresStore({ url: 'postgres://unknown:secret@127.0.0.1:1/x' })).rejects.toMatchObject(
      {
        code: 'store/unavailable',
        message: expect.not.stringContaining('secret'),
      },
    )
    const options = { url: cluster.url, schema: 'newer schema' }
    await (await openPostgresStore(options)).close()
    await query(`insert into "newer schema".proviso_migrations values ('9999_future', '2099')`)
    await expect(openPostgresStore(options)).rejects.toMatchObject({ code: 'store/newer' })
  })
})

async function appendMany(store: Store, name: string, count: number): Promise<void> {
  for (let won = 0, seq = 1; won < count; ) {
    const result = await store.append({
      runId: 'r',
      expectedSeq: seq,
      events: [logEvent(name)],
      head: runningHead,
    })
    if (result.kind === 'appended') won += 1
    if (result.kind === 'appended' || result.kind === 'conflict') seq = result.seq
  }
}
