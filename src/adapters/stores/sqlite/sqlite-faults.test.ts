/** T5: for every single statement that fails, no acknowledged write is lost, no partial write is visible, and the store recovers. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Store } from '../../../domain/ports/store.ts'
import { newRun, planEvent, runningHead, sampleAsk, sampleEvent } from '../../../testing/stores/sample.ts'
import { openLibsql } from './drivers/libsql.ts'
import { type OpenSqlite, openSqliteStore } from './sqlite.ts'

let folder: string
// In a hook: when a filter skips every test nothing is made, because nothing would remove it.
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'proviso-faults-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Fails the Nth statement, before it is run or after it was: as a full disk or a broken one would. */
function faulty(state: { countdown: number; after: boolean }): OpenSqlite {
  return (path) => {
    const connection = openLibsql(path)
    return {
      execute(sql, ...rest) {
        const fails = --state.countdown === 0 && sql !== 'rollback'
        // A commit that has happened cannot be said to have failed by a driver that is right.
        const rows = !fails || (state.after && sql !== 'commit') ? connection.execute(sql, ...rest) : []
        if (fails) throw Object.assign(new Error('disk I/O error'), { code: 'SQLITE_IOERR' })
        return rows
      },
      get inTransaction() {
        return connection.inTransaction
      },
      close: () => connection.close(),
    }
  }
}

const large = 'x'.repeat(20_000)
const appends = [
  [planEvent()],
  [sampleEvent('node_start', {}, { nodeId: 'write' })],
  [sampleEvent('node_complete', { output: { value: { text: large } }, attempt: 1 }, { nodeId: 'write' })],
  [
    sampleEvent('hitl_request', {
      ...sampleAsk('q', 'check'),
      audit: { prev: '', subjectHash: 'v', hash: '1' },
    }),
  ],
  [sampleEvent('complete', { status: 'completed', output: large })],
]

it.each([false, true])(
  'survives a fault at every statement (after it was run: %s)',
  async (after) => {
    const expected = await life(await openSqliteStore({ path: join(folder, `whole-${after}.db`) }))
    let faults = 0
    for (let at = 1; ; at++) {
      const state = { countdown: Number.MAX_SAFE_INTEGER, after }
      const path = join(folder, `${after}-${at}.db`)
      const store = await openSqliteStore({ path, open: faulty(state) })
      state.countdown = at
      expect(await life(store), `statement ${at}`).toEqual(expected)
      if (state.countdown > 0) break
      faults += 1
    }
    expect(faults).toBeGreaterThan(40)
  },
  120_000,
)

/** Writes a whole life; what fails is tried again from what the store has. Gives all that can be asked. */
async function life(store: Store): Promise<unknown> {
  const retried = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work()
    } catch (error) {
      expect(error).toMatchObject({ code: 'store/unavailable', fate: 'retry' })
      return work()
    }
  }
  expect(await retried(() => store.create(newRun('r')))).toBe(true)
  for (const [index, events] of appends.entries()) {
    const append = { runId: 'r', expectedSeq: index + 1, events, head: runningHead }
    expect(await retried(() => store.append(append))).toEqual({ kind: 'appended', seq: index + 2 })
  }
  const seen = [
    await retried(() => store.read('r', 0)),
    await retried(() => store.nodes('r')),
    await retried(() => store.snapshots('r')),
    await retried(() => store.asks({})),
    await retried(() => store.output('r')),
    await retried(() => store.audit('r')),
  ]
  await store.close()
  return seen
}

/** Fails the statements with a text, and says why. */
function failing(state: { text?: string; code: string }): OpenSqlite {
  return (path) => {
    const connection = openLibsql(path)
    return {
      ...connection,
      execute(sql, ...rest) {
        if (state.text !== undefined && sql.includes(state.text))
          throw Object.assign(new Error('it went wrong'), { code: state.code })
        return connection.execute(sql, ...rest)
      },
      get inTransaction() {
        return connection.inTransaction
      },
    }
  }
}

it('reports damage as such, and then also to the probe, which readiness depends on', async () => {
  const state: { text?: string; code: string } = { code: 'SQLITE_CORRUPT_INDEX' }
  const store = await openSqliteStore({ path: join(folder, 'damaged.db'), open: failing(state) })
  await store.create(newRun('r'))
  await store.probe?.()
  state.text = 'hitl_events'
  const damage = { code: 'store/corrupt', hint: expect.stringContaining('proviso restore') }
  await expect(store.audit('r')).rejects.toMatchObject(damage)
  delete state.text
  await expect(store.probe?.()).rejects.toMatchObject(damage)
  await store.close()
})

it.each(['SQLITE_CANTOPEN', 'SQLITE_READONLY', 'EACCES'])('names path and rights after %s', async (code) => {
  const store = await openSqliteStore({ path: join(folder, `${code}.db`), open: failing({ code }) })
  await store.close()
  const opened = openSqliteStore({
    path: join(folder, `${code}.db`),
    open: failing({ code, text: 'pragma cache_size' }),
  })
  await expect(opened).rejects.toMatchObject({
    code: 'store/unavailable',
    hint: expect.stringMatching(/folder exist.*may read and write/),
  })
})

it('reports a programming error unchanged, to the one write it concerns', async () => {
  const open: OpenSqlite = (path) => {
    const connection = openLibsql(path)
    return {
      execute(sql, parameters, single) {
        if (parameters?.includes('poison')) throw new TypeError('not a function')
        return connection.execute(sql, parameters, single)
      },
      get inTransaction() {
        return connection.inTransaction
      },
      close: () => connection.close(),
    }
  }
  const store = await openSqliteStore({ path: join(folder, 'mistake.db'), open })
  const outcomes = await Promise.allSettled([
    store.create(newRun('poison')),
    store.create(newRun('well')),
    store.read('poison', 0),
  ])
  const mistake = { status: 'rejected', reason: expect.any(TypeError) }
  expect(outcomes).toMatchObject([mistake, { status: 'fulfilled' }, mistake])
  expect(await store.head('well')).toMatchObject({ runId: 'well' })
  await store.close()
})
