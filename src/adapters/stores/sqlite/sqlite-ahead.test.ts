/** Commits that are ahead of the disk: the writer continues, and nothing else knows of them before they are there. */
import { mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newRun, runningHead, sampleEvent } from '../../../testing/stores/sample.ts'
import { openLibsql } from './drivers/libsql.ts'
import { readAnchor, toAnchorPath } from './files/anchor.ts'
import type { SqliteConnection } from './open-sqlite.ts'
import { openSqliteStore, type SqliteStoreOptions } from './sqlite.ts'
import { createDurability } from './sqlite-durability.ts'

/** Longer than commits stay ahead. */
const aheadMs = 25
const eventLoop = () => new Promise<void>((resolve) => setImmediate(resolve))

/** Syncs that wait until the test ends them; `log` has everything in order. */
function createSlowDisk() {
  const log: string[] = []
  const disk = {
    log,
    syncs: [] as ((error?: Error) => void)[],
    isBusy: false,
    checkpointFails: false,
    async end(error?: Error) {
      disk.syncs.shift()?.(error)
      for (let turn = 0; turn < 5; turn++) await eventLoop()
    },
  }
  let commits = 0
  const durability = createDurability(
    {
      execute(sql) {
        if (!sql.startsWith('pragma wal_checkpoint')) return [{ n: 0 }]
        log.push('checkpoint')
        if (disk.checkpointFails) throw new Error('disk I/O error')
        return [{ busy: 0 }]
      },
      sync() {
        log.push('sync')
        expect(disk.isBusy).toBe(false)
        disk.isBusy = true
        return new Promise((resolve, reject) => {
          disk.syncs.push((error) => {
            disk.isBusy = false
            if (error) reject(error)
            else resolve()
          })
        })
      },
      syncNow() {
        throw new Error('The disk is slow')
      },
    },
    {
      onCommit() {
        const number = ++commits
        return () => void log.push(`acknowledge ${number}`)
      },
    },
  )
  return {
    disk,
    durability,
    commit: (name: string) =>
      durability.commit(
        () => name,
        (result) => void log.push(`publish ${result}`),
      ),
    waits: (name: string, promise: Promise<unknown>) =>
      void promise.then(
        () => log.push(`${name} is answered`),
        () => log.push(`${name} is refused`),
      ),
  }
}

describe('a commit ahead of the disk', () => {
  it('is synced a little later, and only then acknowledged and published', async () => {
    const { disk, commit } = createSlowDisk()
    const first = await commit('a')
    await commit('b')
    expect([first.result, disk.log]).toEqual(['a', []])
    await pause(aheadMs)
    expect(disk.log).toEqual(['sync'])
    await disk.end()
    expect(disk.log).toEqual(['sync', 'acknowledge 1', 'publish a', 'acknowledge 2', 'publish b'])
    await pause(aheadMs)
    expect(disk.log.filter((entry) => entry === 'sync')).toHaveLength(1)
  })

  it('is published before a later commit that waits, which one sync covers too', async () => {
    const { disk, durability, commit, waits } = createSlowDisk()
    await commit('a')
    waits(
      'b',
      durability.whenDurable(() => {}, { writes: true }),
    )
    await eventLoop()
    expect(disk.log).toEqual(['sync'])
    await disk.end()
    expect(disk.log).toEqual(['sync', 'acknowledge 1', 'publish a', 'acknowledge 2', 'b is answered'])
  })

  it('is made while a sync is under way, and waits for the first one that begins after it', async () => {
    const { disk, commit, waits } = createSlowDisk()
    waits('a', (await commit('a')).whenDurable())
    await eventLoop()
    const second = await commit('b')
    waits('b', second.whenDurable())
    waits('c', (await commit('c')).whenDurable())
    await eventLoop()
    expect(disk.log).toEqual(['sync'])
    await disk.end()
    expect(disk.log).toEqual(['sync', 'acknowledge 1', 'publish a', 'sync', 'a is answered'])
    await disk.end()
    expect(disk.log.slice(5)).toEqual([
      ...['acknowledge 2', 'publish b', 'acknowledge 3', 'publish c'],
      ...['b is answered', 'c is answered'],
    ])
  })

  it('is what a read waits for, and no commit that comes after the read', async () => {
    const { disk, durability, commit, waits } = createSlowDisk()
    await commit('a')
    waits(
      'the read',
      durability.whenDurable(() => 'row'),
    )
    await commit('b')
    await disk.end()
    expect(disk.log).toEqual(['sync', 'acknowledge 1', 'publish a', 'the read is answered'])
  })

  it('is made durable by a checkpoint when its sync fails', async () => {
    const { disk, commit } = createSlowDisk()
    await commit('a')
    await pause(aheadMs)
    await commit('b')
    await disk.end(new Error('disk I/O error'))
    expect(disk.log).toEqual([
      ...['sync', 'checkpoint', 'acknowledge 1', 'publish a', 'acknowledge 2', 'publish b'],
    ])
  })

  it('is not published while the disk fails, and nothing more is written or shown; then all is, in order', async () => {
    const { disk, durability, commit, waits } = createSlowDisk()
    disk.checkpointFails = true
    await commit('a')
    waits('b', (await commit('b')).whenDurable())
    await disk.end(new Error('disk I/O error'))
    const failed = ['sync', 'checkpoint', 'b is refused']
    expect(disk.log).toEqual(failed)
    let isDone = false
    const work = () => {
      isDone = true
    }
    await expect(durability.whenDurable(work)).rejects.toThrow('disk I/O error')
    await expect(durability.commit(work)).rejects.toThrow('disk I/O error')
    expect(isDone).toBe(false)
    disk.checkpointFails = false
    await durability.whenDurable(work)
    expect(disk.log.slice(failed.length)).toEqual([
      ...['checkpoint', 'checkpoint', 'checkpoint'],
      ...['acknowledge 1', 'publish a', 'acknowledge 2', 'publish b'],
    ])
  })

  it('is on the disk before everything is settled', async () => {
    const { disk, durability, commit, waits } = createSlowDisk()
    await commit('a')
    waits('the end', durability.settled())
    await eventLoop()
    expect(disk.log).toEqual(['sync'])
    await disk.end()
    expect(disk.log).toEqual(['sync', 'acknowledge 1', 'publish a', 'the end is answered'])
    await pause(aheadMs)
    expect(disk.log.filter((entry) => entry === 'sync')).toHaveLength(1)
  })
})

it('everything is settled when the disk fails, with no sync under way', async () => {
  const { disk, durability, commit, waits } = createSlowDisk()
  disk.checkpointFails = true
  waits('a', (await commit('a')).whenDurable())
  const later = await commit('b')
  waits('b', later.whenDurable())
  const settled = durability.settled()
  while (disk.syncs.length > 0) await disk.end(new Error('disk I/O error'))
  await settled
  expect(disk.isBusy).toBe(false)
  const { length } = disk.log
  await pause(aheadMs)
  expect(disk.log).toHaveLength(length)
})

describe('a store', () => {
  let folder = ''
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'proviso-ahead-'))
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  /** A store with a run of one event, on a disk that stops syncing when `isStopped`. */
  async function openStopped(name: string, more: Partial<SqliteStoreOptions> = {}) {
    const disk = { isStopped: false, waiting: [] as (() => void)[], syncs: 0, go: () => {} }
    disk.go = () => {
      disk.isStopped = false
      for (const end of disk.waiting.splice(0)) end()
    }
    const open = (path: string): SqliteConnection => {
      const connection = openLibsql(path)
      return {
        execute: (...statement) => connection.execute(...statement),
        get inTransaction() {
          return connection.inTransaction
        },
        async sync() {
          disk.syncs++
          if (disk.isStopped) await new Promise<void>((resolve) => disk.waiting.push(resolve))
          else await pause(3)
          await connection.sync?.()
        },
        syncNow: () => connection.syncNow?.(),
        close: () => connection.close(),
      }
    }
    const path = join(folder, `${name}.db`)
    const store = await openSqliteStore({ path, open, ...more })
    const created = await store.create({ ...newRun('r'), claim: { owner: 'me', leaseMs: 60_000 } })
    if (typeof created !== 'object') throw new Error('Not created')
    const notified: number[] = []
    store.onChange((_, seq) => void notified.push(seq))
    const append = (seq: number, canBeAhead: boolean, given = {}) =>
      store.append({
        runId: 'r',
        expectedSeq: seq,
        events: [sampleEvent('node_start', {}, { nodeId: `n${seq}` })],
        head: runningHead,
        lease: created,
        ...(canBeAhead && { canBeAhead }),
        ...given,
      })
    return { path, store, disk, notified, append }
  }

  it('answers an append that may be ahead before the sync, and shows it to no reader or listener', async () => {
    const { path, store, disk, notified, append } = await openStopped('ahead')
    disk.isStopped = true
    const first = await append(1, true)
    expect(first).toMatchObject({ kind: 'appended', seq: 2 })
    expect(await append(2, true)).toMatchObject({ kind: 'appended', seq: 3 })
    const log: string[] = []
    if (first.kind === 'appended') void first.durable?.then(() => log.push('first'))
    void store.head('r').then((head) => log.push(`read ${head?.seq}`))
    void append(3, false).then((result) => log.push(`appended ${result.kind === 'appended' && result.seq}`))
    await pause(aheadMs)
    expect([log, notified, await store.read('r', 1), store.readRecent?.('r', 1)]).toEqual([
      [],
      [],
      [],
      undefined,
    ])
    const counted = () => readAnchor(toAnchorPath(path))?.last.events
    expect(counted()).toBe(1)
    disk.go()
    while (log.length < 3) await pause(1)
    expect(log).toEqual(['first', 'read 3', 'appended 4'])
    expect([notified, counted(), (await store.read('r', 0)).length]).toEqual([[2, 3, 4], 4, 4])
    await store.close()
  })

  it('answers everything else when it is on the disk: conflicts, releases, documents', async () => {
    const { store, disk, append } = await openStopped('not-ahead')
    disk.isStopped = true
    const answered: string[] = []
    const note = (name: string) => () => void answered.push(name)
    void append(7, true).then(note('conflict'))
    void append(1, true, { documents: [] }).then(note('documents'))
    void append(2, true, { release: true }).then(note('release'))
    await pause(aheadMs)
    expect(answered).toEqual([])
    disk.go()
    while (answered.length < 3) await pause(1)
    await store.close()
  })

  it('continues with appends that may be ahead while others wait for the disk', async () => {
    const { store, disk, append } = await openStopped('beside')
    disk.isStopped = true
    const answered: string[] = []
    const created = store.create(newRun('other')).then(() => void answered.push('created'))
    while (disk.waiting.length === 0) await pause(1)
    expect(await append(1, true)).toMatchObject({ kind: 'appended', seq: 2 })
    expect(answered).toEqual([])
    disk.go()
    await created
    await store.close()
  })

  it('fences an append of the previous owner while the claim is on its way to the disk', async () => {
    let now = 1_000_000
    const { store, disk, append } = await openStopped('fenced', { clock: { now: () => now } })
    await append(1, false)
    now += 61_000
    disk.isStopped = true
    const claiming = store.claim({ owner: 'other', leaseMs: 60_000, limit: 1 })
    const late = append(2, true, { release: true })
    await pause(aheadMs)
    disk.go()
    const [claimed] = await claiming
    expect(await late).toEqual({ kind: 'fenced' })
    const lease = claimed?.lease
    expect(await append(2, false, { lease })).toMatchObject({ kind: 'appended', seq: 3 })
    await store.close()
  })

  it('has everything on the disk when it is closed', async () => {
    const { path, store, append, disk } = await openStopped('closed')
    await append(1, true)
    const { syncs } = disk
    await store.close()
    expect(disk.syncs).toBeGreaterThan(syncs)
    expect(readAnchor(toAnchorPath(path))?.last.events).toBe(2)
  })

  it('counts no commit ahead of the disk whose file was replaced, and refuses what follows', async () => {
    const { path, store, disk, notified, append } = await openStopped('replaced')
    disk.isStopped = true
    await append(1, true)
    renameSync(path, `${path}-away`)
    disk.go()
    await expect(append(2, true)).rejects.toMatchObject({ code: 'store/replaced' })
    await expect(append(2, false)).rejects.toMatchObject({ code: 'store/replaced' })
    await pause(aheadMs)
    expect(notified).toEqual([])
    expect(readAnchor(toAnchorPath(path))?.last.events).toBe(1)
    renameSync(`${path}-away`, path)
    // It was there all the time.
    expect((await store.read('r', 0)).length).toBe(2)
    expect(await append(2, false)).toEqual({ kind: 'appended', seq: 3 })
    await store.close()
  })

  it('answers nothing ahead with the option `ahead: false`, and syncs as often as it appends', async () => {
    const { store, disk, append } = await openStopped('off', { ahead: false })
    disk.isStopped = true
    let isAnswered = false
    void append(1, true).then(() => {
      isAnswered = true
    })
    await pause(aheadMs)
    expect(isAnswered).toBe(false)
    disk.go()
    await store.close()
    expect(isAnswered).toBe(true)
  })
})
