/** What a process on PostgreSQL keeps in memory of its runs: never more than the database has, and never trusted blindly. */
import { Client } from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type Cluster, missingPostgres, start } from '../../scripts/postgres.mjs'
import { createMemoryStore } from '../../src/adapters/stores/memory/memory.ts'
import { openPostgresStore } from '../../src/adapters/stores/postgres/postgres.ts'
import type { Store } from '../../src/index.ts'
import { columns, lifeEvents, logEvent, newRun, numberColumns, runningHead } from '../seams/stores.ts'

describe.skipIf(missingPostgres() !== undefined)('Caches of a store on PostgreSQL', () => {
  let cluster: Cluster
  const stores: Store[] = []
  beforeAll(async () => {
    cluster = await start()
  })
  afterEach(async () => {
    for (const store of stores.splice(0)) await store.close()
  })
  afterAll(() => cluster?.stop())

  async function open(schema: string): Promise<Store> {
    const store = await openPostgresStore({ url: cluster.url, schema })
    stores.push(store)
    return store
  }

  /** All rows of a run; times of the database's clock aside. */
  async function readRows(store: Store, runId: string) {
    const [nodes, snapshots, output, asks, audit, spans] = await Promise.all([
      store.nodes(runId),
      store.snapshots(runId),
      store.output(runId),
      store.asks({ runId }),
      store.audit(runId),
      store.spans(runId),
    ])
    const timed = spans.map(({ startedAt: _, ...span }) => span)
    return { nodes, snapshots, output, asks, audit, spans: timed, events: await store.read(runId, 0) }
  }

  it.each([
    ['the process that began it', [0]],
    ['two processes by turns', [0, 1]],
    ['two processes, two appends each', [0, 0, 1, 1]],
  ])('rows are the same when a run is written by %s', async (_, order) => {
    const schema = `turns_${order.length}`
    const writers = [await open(schema), await open(schema)] as const
    const reference = createMemoryStore()
    const run = { ...newRun('r'), claim: { owner: 'a', leaseMs: 60_000 } }
    await writers[0].create(run)
    await reference.create(run)
    for (const [index, event] of lifeEvents.entries()) {
      const append = { runId: 'r', expectedSeq: index + 1, events: [event], head: runningHead }
      const writer = writers[order[index % order.length] as 0 | 1]
      expect(await writer.append(append)).toEqual({ kind: 'appended', seq: index + 2 })
      await reference.append(append)
    }
    expect(await readRows(writers[0], 'r')).toEqual(await readRows(reference, 'r'))
  })

  it('events of another process are read from the database', async () => {
    const [own, other] = [await open('tails'), await open('tails')]
    await own.create(newRun('r'))
    const append = (store: Store, seq: number) =>
      store.append({ runId: 'r', expectedSeq: seq, events: [logEvent(seq)], head: runningHead })
    await append(own, 1)
    await append(other, 2)
    const seqs = (events: readonly { seq: number }[] | undefined) => events?.map(({ seq }) => seq)
    expect(seqs(own.readRecent?.('r', 0))).toEqual([1, 2])
    expect(own.readRecent?.('r', 2)).toBe(undefined)
    expect(seqs(await own.read('r', 0))).toEqual([1, 2, 3])
    expect(seqs(other.readRecent?.('r', 2))).toEqual([3])
    // It does not have the first events.
    expect(other.readRecent?.('r', 0)).toBe(undefined)
    await append(own, 3)
    expect(own.readRecent?.('r', 1)).toBe(undefined)
    expect(seqs(own.readRecent?.('r', 3))).toEqual([4])
    expect(seqs(await own.read('r', 0))).toEqual([1, 2, 3, 4])
  })

  it('lists are given in the types of the columns', async () => {
    const store = await openPostgresStore({ url: cluster.url, schema: 'typed', ledger: true })
    stores.push(store)
    const client = new Client(cluster.url)
    await client.connect()
    const { rows } = await client.query(
      `select table_name, column_name, data_type from information_schema.columns where table_schema = 'typed'`,
    )
    await client.end()
    const types = new Map(rows.map((row) => [`${row.table_name}.${row.column_name}`, row.data_type]))
    for (const [table, names] of Object.entries(columns)) {
      // Only SQLite links commits.
      for (const name of names.filter((column) => column !== 'link'))
        expect([`${table}.${name}`, types.get(`${table}.${name}`)]).toEqual([
          `${table}.${name}`,
          numberColumns.has(name) ? 'double precision' : 'text',
        ])
    }
  })
})
