/** The correction ledger: rows only where it is switched on, in a table that is made only then. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createMemoryStore } from '../../src/adapters/stores/memory/memory.ts'
import { openSqliteStore } from '../../src/adapters/stores/sqlite/sqlite.ts'
import type { Store } from '../../src/index.ts'
import {
  attemptEvents,
  newRun,
  openLibsql,
  planEvent,
  runningHead,
  type TraceEntry,
} from '../seams/stores.ts'
import { addRun, read } from './runs.ts'

let folder: string
let files = 0
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'proviso-ledger-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const newPath = () => join(folder, `${++files}.db`)

const hash = 'a'.repeat(64)
const trace: TraceEntry[] = [
  ['aros.repair.started', { stage: 'deterministic', schema_hash: hash }],
  read('extract', 'surroundings'),
  ['aros.repair.started', { stage: 'llm', schema_hash: hash }],
  read('semantic', 'str->int', 'enum'),
  ['output.coercion.success', { stage: 'semantic', transforms: ['wrap'], shadow: true }],
]

const tables = (path: string) => {
  const connection = openLibsql(path)
  const rows = connection.execute(`select name from sqlite_master where name like '%ledger%'`)
  connection.close()
  return rows.map((row) => row['name'])
}

async function fill(store: Store): Promise<void> {
  await addRun(store, 'r-1', [{ model: 'a/m', trace, endedAt: 5_000 }])
  await addRun(store, 'r-2', [{ model: 'a/m', endedAt: 6_000 }])
}

const rows = [
  {
    id: 'r-1:9:0',
    timestamp: 5_000,
    stepName: 'write',
    agentId: 'cap.write',
    providerModel: 'a/m',
    schemaHash: hash,
    coercionPolicyVersion: '1',
    stage: 'extract',
    repairDepth: 0,
    transformsApplied: ['surroundings'],
    latencyMsSaved: 10,
  },
  {
    id: 'r-1:9:1',
    timestamp: 5_000,
    stepName: 'write',
    agentId: 'cap.write',
    providerModel: 'a/m',
    schemaHash: hash,
    coercionPolicyVersion: '1',
    stage: 'semantic',
    repairDepth: 1,
    transformsApplied: ['str->int', 'enum'],
    latencyMsSaved: 10,
  },
]

describe('the correction ledger', () => {
  it('is not there unless it is switched on: no table, no row, nothing to ask', async () => {
    const path = newPath()
    const store = await openSqliteStore({ path })
    await fill(store)
    expect(store.ledger).toBe(undefined)
    await store.close()
    expect(tables(path)).toEqual([])
    expect(createMemoryStore().ledger).toBe(undefined)
  })

  for (const [name, open] of [
    ['memory', async () => createMemoryStore({ ledger: true })],
    ['sqlite', () => openSqliteStore({ path: newPath(), ledger: true })],
  ] as const) {
    it(`has one row per stage that changed an answer (${name})`, async () => {
      const store = await open()
      await fill(store)
      expect(await store.ledger?.list({})).toEqual(rows)
      expect(await store.ledger?.list({ since: 5_001 })).toEqual([])
      expect(await store.ledger?.list({ stepName: 'other' })).toEqual([])
      expect(await store.ledger?.list({ limit: 1 })).toEqual([rows[0]])
      await store.close()
    })

    it(`has the same rows when events come one by one (${name})`, async () => {
      const store = await open()
      const events = [planEvent(), ...attemptEvents({ model: 'a/m', trace, endedAt: 5_000 })]
      await store.create(newRun('r-1'))
      for (const [index, event] of events.entries())
        await store.append({ runId: 'r-1', expectedSeq: 1 + index, events: [event], head: runningHead })
      expect(await store.ledger?.list({})).toEqual(rows)
      await store.close()
    })
  }

  it('can be switched on later and off again, keeping what it has, also when runs are pruned', async () => {
    const path = newPath()
    const plain = await openSqliteStore({ path })
    await addRun(plain, 'before', [{ model: 'a/m', trace }])
    await plain.close()
    const on = await openSqliteStore({ path, ledger: true })
    await fill(on)
    await on.prune({ before: Number.MAX_SAFE_INTEGER })
    await on.close()
    expect(tables(path)).toContain('correction_ledger')
    const off = await openSqliteStore({ path })
    await addRun(off, 'after', [{ model: 'a/m', trace }])
    await off.close()
    const reader = await openSqliteStore({ path, readOnly: true, ledger: true })
    expect(await reader.ledger?.list({})).toEqual(rows)
    await reader.close()
  })
})
