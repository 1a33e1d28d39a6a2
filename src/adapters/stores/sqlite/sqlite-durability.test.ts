/** No write is acknowledged or visible before it is on the disk, and no thread blocks for the disk. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newRun, runningHead, sampleEvent } from '../../../testing/stores/sample.ts'
import { openLibsql } from './drivers/libsql.ts'
import type { SqliteConnection } from './open-sqlite.ts'
import { openSqliteStore } from './sqlite.ts'
import { createDurability } from './sqlite-durability.ts'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'proviso-durability-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** A store whose disk takes as long as the test wants; `sync` and `checkpoint` may fail. */
async function openSlow(name: string) {
  const disk = {
    waiting: [] as (() => void)[],
    fails: { sync: false, checkpoint: false },
    asked: { syncs: 0, inPlace: 0, checkpoints: 0 },
    /** Resolves when a sync is requested. */
    async awaited() {
      while (disk.waiting.length === 0) await new Promise((resolve) => setImmediate(resolve))
    },
    release() {
      for (const go of disk.waiting.splice(0)) go()
    },
    slow: false,
  }
  const ioError = () => Object.assign(new Error('disk I/O error'), { code: 'EIO' })
  const open = (path: string): SqliteConnection => {
    const connection = openLibsql(path)
    return {
      execute(sql, ...rest) {
        if (sql.startsWith('pragma wal_checkpoint')) {
          disk.asked.checkpoints++
          if (disk.fails.checkpoint) throw ioError()
        }
        return connection.execute(sql, ...rest)
      },
      get inTransaction() {
        return connection.inTransaction
      },
      async sync() {
        disk.asked.syncs++
        if (disk.slow) await new Promise<void>((resolve) => disk.waiting.push(resolve))
        if (disk.fails.sync) throw ioError()
        await connection.sync?.()
      },
      syncNow() {
        disk.asked.inPlace++
        if (disk.fails.sync) throw ioError()
        connection.syncNow?.()
      },
      close: () => connection.close(),
    }
  }
  const store = await openSqliteStore({ path: join(folder, `${name}.db`), open })
  return { store, disk }
}

const append = (seq: number) => ({
  runId: 'r',
  expectedSeq: seq,
  events: [sampleEvent('node_start', {}, { nodeId: 'write' })],
  head: runningHead,
})

it('answers, notifies and shows an append only when it is on the disk', async () => {
  const { store, disk } = await openSlow('slow')
  await store.create(newRun('r'))
  const notified: number[] = []
  store.onChange((_, seq) => void notified.push(seq))
  disk.slow = true
  const seen: string[] = []
  const appended = store.append(append(1)).then(() => seen.push('appended'))
  await disk.awaited()
  const read = store.head('r').then((head) => seen.push(`read ${head?.seq}`))
  await new Promise((resolve) => setImmediate(resolve))
  expect([seen, notified, await store.read('r', 1)]).toEqual([[], [], []])
  disk.slow = false
  disk.release()
  await Promise.all([appended, read])
  expect([...seen].sort()).toEqual(['appended', 'read 2'])
  expect(notified).toEqual([2])
  expect(await store.read('r', 1)).toHaveLength(1)
  await store.close()
})

it('does not ask the disk for what only reads', async () => {
  const { store, disk } = await openSlow('reading')
  await store.create(newRun('r'))
  const before = disk.asked.syncs
  await store.head('r')
  await store.nodes('r')
  expect(disk.asked.syncs).toBe(before)
  await store.renew({ owner: 'other', leaseMs: 1_000, runIds: ['r'] })
  expect(disk.asked.syncs).toBe(before)
  await store.claim({ owner: 'another', leaseMs: 1_000, limit: 1 })
  expect(disk.asked.syncs).toBe(before + 1)
  await store.close()
})

it('writes anew, by a checkpoint, what a failed sync may have lost', async () => {
  const { store, disk } = await openSlow('failed')
  await store.create(newRun('r'))
  disk.fails.sync = true
  expect(await store.append(append(1))).toEqual({ kind: 'appended', seq: 2 })
  expect(disk.asked.checkpoints).toBe(1)
  await store.close()
})

it('reports the store as unavailable while the disk fails, and recovers', async () => {
  const { store, disk } = await openSlow('broken')
  await store.create(newRun('r'))
  disk.fails = { sync: true, checkpoint: true }
  await expect(store.append(append(1))).rejects.toMatchObject({ code: 'store/unavailable' })
  // It is unknown whether it is durable: it is not shown.
  await expect(store.head('r')).rejects.toMatchObject({ code: 'store/unavailable' })
  disk.fails = { sync: false, checkpoint: false }
  const { seq = 0 } = (await store.head('r')) ?? {}
  expect(await store.append(append(seq))).toEqual({ kind: 'appended', seq: seq + 1 })
  expect((await store.read('r', 0)).map((event) => event.seq)).toEqual([1, 2, 3])
  await store.close()
})

describe('a disk', () => {
  const createDisk = (syncMs: number) => {
    let now = 0
    const asked = { syncs: 0, inPlace: 0, checkpoints: 0 }
    const disk = { asked, syncMs, fails: false }
    const took = () => {
      now += disk.syncMs
      if (disk.fails) throw new Error('disk I/O error')
    }
    const durability = createDurability(
      {
        execute(sql) {
          if (sql.startsWith('pragma wal_checkpoint')) asked.checkpoints++
          return [{ n: 0, busy: 0 }]
        },
        async sync() {
          asked.syncs++
          took()
        },
        syncNow() {
          asked.inPlace++
          took()
        },
      },
      { now: () => now },
    )
    return { disk, write: () => durability.whenDurable(() => {}, { writes: true }) }
  }

  it('that is quick is waited for in place, as soon as that is known', async () => {
    const { disk, write } = createDisk(0.2)
    for (let count = 0; count < 100; count++) await write()
    expect(disk.asked.syncs).toBeLessThan(20)
    expect(disk.asked.syncs + disk.asked.inPlace).toBe(100)
  })

  it('that is slow, or becomes so, is waited for on another thread', async () => {
    const { disk, write } = createDisk(0.2)
    for (let count = 0; count < 100; count++) await write()
    const { syncs, inPlace } = disk.asked
    disk.syncMs = 10
    for (let count = 0; count < 100; count++) await write()
    expect(disk.asked.inPlace - inPlace).toBe(1)
    expect(disk.asked.syncs - syncs).toBe(99)
  })

  it('that fails in place is asked in the other way, too', async () => {
    const { disk, write } = createDisk(0.2)
    for (let count = 0; count < 100; count++) await write()
    disk.fails = true
    await write()
    expect(disk.asked.checkpoints).toBe(1)
  })
})
