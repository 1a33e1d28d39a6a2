/**
 * Output commit: the power fails at every call of a run. Calls of idempotent functions are ahead of the disk, so the disk may
 * know nothing of them; everything that leaves the process has waited for it. A disk is what was there when the last sync
 * that has ended began, with the anchor as it was written last.
 */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type OpenSqlite, openSqliteStore } from '../../../src/adapters/stores/sqlite/sqlite.ts'
import { createApp, defineCapability } from '../../../src/index.ts'
import { openLibsql } from '../../seams/stores.ts'

let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'proviso-output-commit-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

type Files = ReadonlyMap<string, Buffer>

/** A disk that takes its time, and what a power failure leaves of it. */
function createDisk(name: string) {
  const home = join(folder, name)
  mkdirSync(home)
  const read = (ends: RegExp): Files =>
    new Map(
      readdirSync(home)
        .filter((file) => ends.test(file))
        .map((file) => [file, readFileSync(join(home, file))]),
    )
  let durable: Files = new Map()
  const keep = () => {
    durable = read(/\.db(-wal)?$/)
  }
  const open: OpenSqlite = (path) => {
    const connection = openLibsql(path)
    return {
      execute: (...statement) => connection.execute(...statement),
      get inTransaction() {
        return connection.inTransaction
      },
      async sync() {
        const begun = read(/\.db(-wal)?$/)
        await pause(8)
        await connection.sync?.()
        durable = begun
      },
      syncNow() {
        connection.syncNow?.()
        keep()
      },
      close: () => connection.close(),
    }
  }
  return {
    path: join(home, 'runs.db'),
    open,
    keep,
    lose: (): Files => new Map([...durable, ...read(/-anchor$/)]),
  }
}

const text = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }
const local = ['a', 'b', 'c'] as const
const nodes = [...local, 'pay', 'end'] as const
const envelope = { objective: 'Pay', outputContract: { schema: text } }
/** A chain: three idempotent functions, one that must not be called twice, and another idempotent one. */
const draft = {
  nodes: nodes.map((id, index) => ({
    id,
    capabilityId: id,
    inputs: index === 0 ? {} : { text: { node: nodes[index - 1] as string, pointer: '/text' } },
  })),
  output: { node: 'end' },
}

interface Call {
  readonly runId: string
  readonly nodeId: string
  readonly key: string
}

function capabilities(onCall: (call: Call) => void | Promise<void>) {
  return nodes.map((capabilityId) =>
    defineCapability({
      capabilityId,
      inputContract: { type: 'object' },
      outputContract: text,
      idempotent: capabilityId !== 'pay',
      async run(_: unknown, { runId, nodeId, idempotencyKey: key }) {
        await onCall({ runId, nodeId, key })
        return { text: `${runId} ${nodeId}` }
      },
    }),
  )
}

/** The power fails during the call, or right after the answer of a run. */
interface Failure {
  readonly files: Files
  readonly during?: Call
  readonly calls: readonly Call[]
  readonly acknowledged: ReadonlySet<string>
  /** Events that listeners, subscribers and readers know of, by run. */
  readonly shown: ReadonlyMap<string, number>
}

async function live(name: string): Promise<Failure[]> {
  const disk = createDisk(name)
  const store = await openSqliteStore({ path: disk.path, open: disk.open })
  disk.keep()
  const failures: Failure[] = []
  const calls: Call[] = []
  const acknowledged = new Set<string>()
  const shown = new Map<string, number>()
  const show = (runId: string, seq: number) => void shown.set(runId, Math.max(seq, shown.get(runId) ?? 0))
  store.onChange(show)
  const fail = (during?: Call) =>
    failures.push({
      files: disk.lose(),
      calls: [...calls],
      acknowledged: new Set(acknowledged),
      shown: new Map(shown),
      ...(during && { during }),
    })
  const app = await createApp({
    store,
    capabilities: capabilities(async (call) => {
      calls.push(call)
      fail(call)
      void store.head(call.runId).then((head) => show(call.runId, head?.seq ?? 0))
      // Some take longer than commits stay ahead.
      if (call.nodeId === 'c' && call.runId.endsWith('1')) await pause(40)
    }),
  })
  let notices = 0
  app.subscribeToLifecycle((notice) => {
    if (notice.kind !== 'appended') return
    notices++
    show(notice.runId, notice.events.at(-1)?.seq ?? 0)
    fail()
  })
  const run = async (runId: string) => {
    expect(await app.run(envelope, { draft, runId })).toMatchObject({ status: 'completed' })
    acknowledged.add(runId)
    fail()
  }
  for (const runId of ['one-1', 'one-2']) await run(runId)
  await Promise.all(['many-1', 'many-2', 'many-3', 'many-4'].map(run))
  await app.close()
  await store.close()
  expect(notices).toBeGreaterThan(20)
  return failures
}

describe('after a loss of power', () => {
  let failures: readonly Failure[] = []
  beforeAll(async () => {
    failures = await live('disk')
  })

  /** Opens the disk in a new process. */
  async function withDisk<T>(
    { files }: Failure,
    use: (store: Awaited<ReturnType<typeof openSqliteStore>>) => Promise<T>,
  ) {
    const home = mkdtempSync(join(folder, 'image-'))
    for (const [file, content] of files) writeFileSync(join(home, file), content)
    const store = await openSqliteStore({ path: join(home, 'runs.db') })
    try {
      return await use(store)
    } finally {
      await store.close()
      rmSync(home, { recursive: true })
    }
  }

  it('the call of a function that must not be called twice is on the disk, with everything before it', async () => {
    const found = new Map<string, boolean[]>()
    for (const failure of failures) {
      const { during } = failure
      if (during === undefined) continue
      const events = await withDisk(failure, (store) => store.read(during.runId, 0))
      const starts = events.filter(({ type }) => type === 'attempt_start').map(({ nodeId }) => nodeId)
      const known = starts.includes(during.nodeId)
      if (known) expect(starts).toEqual(nodes.slice(0, nodes.indexOf(during.nodeId as 'a') + 1))
      found.set(during.nodeId, [...(found.get(during.nodeId) ?? []), known])
    }
    expect(new Set(found.get('pay'))).toEqual(new Set([true]))
    // Its result is on the disk before the run continues.
    expect(new Set(found.get('end'))).toEqual(new Set([true]))
    // The first attempt is written with the run, whose start is acknowledged.
    expect(new Set(found.get('a'))).toEqual(new Set([true]))
    // Otherwise this test would see nothing.
    expect(found.get('b')).toContain(false)
    expect(found.get('c')).toContain(false)
  })

  it('every answer and everything shown is kept, and the other runs continue under the same keys', async () => {
    for (const failure of failures) {
      const again: Call[] = []
      await withDisk(failure, async (store) => {
        expect(await store.checkAnchor?.()).toMatchObject({ state: 'ok' })
        for (const [runId, seq] of failure.shown)
          expect((await store.head(runId))?.seq).toBeGreaterThanOrEqual(seq)
        for (const runId of failure.acknowledged) {
          expect((await store.head(runId))?.status).toBe('completed')
          expect((await store.output(runId))?.output).toEqual({ text: `${runId} end` })
        }
        const doubted = new Set<string>()
        for (const { runId } of await store.runs({})) {
          const of = (await store.read(runId, 0)).filter(({ nodeId }) => nodeId === 'pay')
          const has = (type: string) => of.some((event) => event.type === type)
          if (has('attempt_start') && !has('node_complete')) doubted.add(runId)
        }
        const app = await createApp({ store, capabilities: capabilities((call) => void again.push(call)) })
        const isOver = async () => (await store.runs({ status: ['pending', 'running'] })).length === 0
        while (!(await isOver())) await pause(5)
        for (const { runId, status } of await store.runs({})) {
          // A payment that may have been made is not made again: a person is asked.
          expect(status).toBe(doubted.has(runId) ? 'awaiting_hitl' : 'completed')
          const payments = [...failure.calls, ...again].filter(
            (call) => call.runId === runId && call.nodeId === 'pay',
          )
          expect(payments.length).toBeLessThan(2)
        }
        await app.close()
      })
      for (const { runId, nodeId, key } of again) {
        const before = failure.calls.find((call) => call.runId === runId && call.nodeId === nodeId)
        expect(key).toBe(before?.key ?? key)
      }
    }
  })
})
