/**
 * Transactions on PostgreSQL under load: appends and renewals of leases never wait for each other in a circle, and a
 * transaction stays in the session in which it began.
 */
import { Client } from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type Cluster, missingPostgres, start } from '../../scripts/postgres.mjs'
import { openPostgresStore } from '../../src/adapters/stores/postgres/postgres.ts'
import type { Store } from '../../src/index.ts'
import { logEvent, newRun, runningHead } from '../seams/stores.ts'
import { type TcpProxy, tcpProxy } from './faults/tcp-proxy.ts'

describe.skipIf(missingPostgres() !== undefined)('Transactions on PostgreSQL', () => {
  let cluster: Cluster
  let proxy: TcpProxy
  let admin: Client
  const stores: Store[] = []
  beforeAll(async () => {
    cluster = await start()
    proxy = await tcpProxy({ host: '127.0.0.1', port: Number(new URL(cluster.url).port) })
    admin = new Client(cluster.url)
    await admin.connect()
  })
  afterEach(async () => {
    for (const store of stores.splice(0)) await store.close()
  })
  afterAll(async () => {
    await admin?.end()
    await proxy?.close()
    cluster?.stop()
  })

  const count = async (sql: string) => Number((await admin.query(sql)).rows[0]['n'])

  it('appends and renewals of many runs do not deadlock', async () => {
    const store = await openPostgresStore({ url: cluster.url, schema: 'renewed', writers: 4 })
    stores.push(store)
    // Made in the opposite order of their ids, so that the order in the table is another than by id.
    const runIds = Array.from({ length: 200 }, (_, index) => `r-${String(999 - index)}`)
    for (const runId of runIds)
      await store.create({ ...newRun(runId), claim: { owner: 'me', leaseMs: 60_000 } })
    const lease = { owner: 'me', epoch: 1 }
    const appendMany = async (runId: string) => {
      for (let seq = 1; seq <= 20; seq++) {
        const events = [logEvent(String(seq))]
        const result = await store.append({ runId, expectedSeq: seq, events, head: runningHead, lease })
        expect(result).toEqual({ kind: 'appended', seq: seq + 1 })
      }
    }
    let over = false
    const renewAgain = async () => {
      while (!over)
        expect(await store.renew({ owner: 'me', leaseMs: 60_000, runIds })).toHaveLength(runIds.length)
    }
    const renewals = renewAgain()
    await Promise.all(runIds.map(appendMany))
    over = true
    await renewals
    // Statistics are written a moment after the commit.
    await admin.query('select pg_stat_force_next_flush()').catch(() => {})
    expect(
      await count(`select deadlocks as n from pg_stat_database where datname = current_database()`),
    ).toBe(0)
  })

  it('a transaction that is tried again does not move to another session when the first one ends late', async () => {
    const url = new URL(cluster.url)
    url.port = String(proxy.port)
    const store = await openPostgresStore({ url: url.href, schema: 'moved', answerMs: 400, writers: 1 })
    stores.push(store)
    await store.create(newRun('r'))
    proxy.delayEnds(150)
    const append = () =>
      store.append({ runId: 'r', expectedSeq: 1, events: [logEvent('once')], head: runningHead })

    const other = new Client(cluster.url)
    await other.connect()
    await other.query('begin')
    await other.query(`select * from moved.flex_runs where run_id = 'r' for update`)
    const appended = append()
    // The first try is cancelled, the second waits again while the session of the first ends.
    const tries = `select count(distinct pid) as n from pg_stat_activity where wait_event_type = 'Lock'`
    await expect.poll(() => count(tries), { interval: 5, timeout: 10_000 }).toBe(1)
    const [first] = (await admin.query(`select pid from pg_stat_activity where wait_event_type = 'Lock'`))
      .rows
    const second = `select count(*) as n from pg_stat_activity where wait_event_type = 'Lock' and pid <> ${first.pid}`
    await expect.poll(() => count(second), { interval: 5, timeout: 10_000 }).toBe(1)
    const open = proxy.open
    await expect.poll(() => proxy.open, { interval: 5, timeout: 10_000 }).toBeLessThan(open)
    await other.query('rollback')
    await other.end()

    const began = performance.now()
    expect(await appended).toEqual({ kind: 'appended', seq: 2 })
    // Split over two sessions, the second would wait for the locks of the first until the server ends that after 10 s.
    expect(performance.now() - began).toBeLessThan(5_000)
    expect((await store.read('r', 0)).map(({ seq }) => seq)).toEqual([1, 2])
    const idle = `select count(*) as n from pg_stat_activity where state = 'idle in transaction'`
    await expect.poll(() => count(idle), { timeout: 2_000 }).toBe(0)
  })
})
