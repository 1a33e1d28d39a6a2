/** External input to a run that is ahead of the disk: the run is faster than any writer that waits, and must let it pass. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { type OpenSqlite, openSqliteStore } from '../../../src/adapters/stores/sqlite/sqlite.ts'
import { createApp, defineCapability } from '../../../src/index.ts'
import { openLibsql } from '../../seams/stores.ts'

const text = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }
const ids = Array.from({ length: 300 }, (_, index) => `n${index}`)
const draft = {
  nodes: ids.map((id, index) => ({
    id,
    capabilityId: 'step',
    inputs: index === 0 ? {} : { text: { node: ids[index - 1] as string, pointer: '/text' } },
  })),
  output: { node: ids.at(-1) as string },
}

/** A disk on which every sync takes a while. */
const openSlow: OpenSqlite = (path) => {
  const connection = openLibsql(path)
  return {
    execute: (...statement) => connection.execute(...statement),
    get inTransaction() {
      return connection.inTransaction
    },
    async sync() {
      await pause(8)
      await connection.sync?.()
    },
    syncNow: () => connection.syncNow?.(),
    close: () => connection.close(),
  }
}

it('a run of fast functions is cancelled within a few of them', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'proviso-input-ahead-'))
  const store = await openSqliteStore({ path: join(folder, 'runs.db'), open: openSlow })
  let calls = 0
  let cancelled: Promise<void> | undefined
  const app = await createApp({
    store,
    capabilities: [
      defineCapability({
        capabilityId: 'step',
        inputContract: { type: 'object' },
        outputContract: text,
        idempotent: true,
        async run() {
          calls += 1
          if (calls === 10) cancelled = app.cancel('r', { by: 'ann' })
          return { text: `${calls}` }
        },
      }),
    ],
  })
  const envelope = { objective: 'Count', outputContract: { schema: text } }
  expect(await app.run(envelope, { draft, runId: 'r' })).toMatchObject({ status: 'cancelled' })
  await cancelled
  expect(calls).toBeLessThan(60)
  await app.close()
  await store.close()
  rmSync(folder, { recursive: true })
}, 30_000)
