/** How PostgreSQL finds the rows of runs, from the first one on: by their keys, also before it has any statistics. */
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Cluster, missingPostgres, start } from '../../scripts/postgres.mjs'
import { openPostgresStore } from '../../src/adapters/stores/postgres/postgres.ts'
import { logEvent, newRun, runningHead } from '../seams/stores.ts'

const runs = 1_000

describe.skipIf(missingPostgres() !== undefined)('Statements on PostgreSQL', () => {
  let cluster: Cluster
  beforeAll(async () => {
    cluster = await start()
  })
  afterAll(() => cluster?.stop())

  it('no statement of a run reads a whole table, however it was planned while the table was empty', async () => {
    const store = await openPostgresStore({ url: cluster.url, schema: 'plans' })
    const claim = async (limit: number) => store.claim({ owner: 'a', leaseMs: 60_000, limit })
    const append = (runId: string, expectedSeq: number) =>
      store.append({ runId, expectedSeq, events: [logEvent(expectedSeq)], head: runningHead })
    const ids = Array.from({ length: runs }, (_, index) => `run-${index}`)
    // Small groups, so that the statements are prepared while the tables are nearly empty.
    for (let from = 0; from < runs; from += 20) {
      const some = ids.slice(from, from + 20)
      await Promise.all(
        some.map((runId) => store.create({ ...newRun(runId), head: { ...runningHead, wakeAt: 1 } })),
      )
      await claim(20)
      await Promise.all(some.map((runId) => append(runId, 1)))
      await Promise.all(some.map((runId) => append(runId, 2)))
      await Promise.all(some.map((runId) => store.head(runId)))
      await Promise.all(some.map((runId) => store.read(runId, 0)))
    }
    await store.close()
    const client = new Client(cluster.url)
    await client.connect()
    const readScans = async () => {
      const { rows } = await client.query<{ relname: string; idx_scan: string; seq_tup_read: string }>(
        `select relname, idx_scan, seq_tup_read from pg_stat_user_tables
          where schemaname = 'plans' and relname in ('flex_runs', 'flex_events')`,
      )
      return new Map(rows.map((row) => [row.relname, row]))
    }
    // Connections report when they end.
    await expect
      .poll(async () => Number((await readScans()).get('flex_runs')?.idx_scan))
      .toBeGreaterThan(runs)
    const scans = await readScans()
    await client.end()
    // A few reads of tables with next to no rows are fine; reading the table for each write would be half a million rows.
    for (const table of ['flex_runs', 'flex_events'])
      expect([table, Number(scans.get(table)?.seq_tup_read)]).toEqual([
        table,
        expect.toSatisfy((rows) => rows < runs),
      ])
  })
})
