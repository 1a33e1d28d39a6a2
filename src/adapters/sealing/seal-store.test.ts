/** Secrets of runs in a store: with keys that change, a key that is lost, a key file, and without any key. */
import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import type { NewEvent } from '../../domain/event.ts'
import type { Store } from '../../domain/ports/store.ts'
import { createMemoryStore } from '../stores/memory/memory.ts'
import { sealStore, shownRows } from './seal-store.ts'

const folder = mkdtempSync(join(tmpdir(), 'proviso-seal-store-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** A memory store that does not say what it is, with a place for a key where one is given. */
const rowsIn = (keyFile?: string): Store =>
  Object.assign(createMemoryStore(), { name: 'rows', ...(keyFile !== undefined && { keyFile }) })

const readKey = (text: string) => {
  const bytes = createHash('sha256').update(text).digest()
  return { id: bytes.toString('hex').slice(0, 8), bytes }
}
const withKeys = (store: Store, keys: readonly string[], more = {}) =>
  sealStore(store, { keys, readKey, ...more })

const secret = 'planted-password-1'
const event = {
  type: 'log',
  version: 1,
  at: 0,
  planVersion: 0,
  payload: { event: 'x', payload: { password: secret, note: `with ${secret}`, pin: 7 } },
} as NewEvent
const create = (store: Store, runId = 'r') =>
  store.create({ runId, tenant: 't', events: [event], head: { status: 'running', planVersion: 0 } })
const stored = async (store: Store, runId = 'r') => JSON.stringify(await store.read(runId, 0))

describe('with keys', () => {
  it('rows have no secret, also where the run repeats it; reading opens them, with previous keys too', async () => {
    const rows = rowsIn()
    const store = withKeys(rows, ['one'])
    await create(store)
    expect(await stored(rows)).not.toContain(secret)
    expect((await store.read('r', 0))[0]?.payload).toEqual(event.payload)
    expect(await stored(withKeys(rows, ['two', 'one']))).toContain(secret)
    expect(await stored(withKeys(rows, ['two'])), 'without its key').not.toContain(secret)
    expect(await stored(shownRows(store)), 'what is shown').not.toContain(secret)
  })

  it('the same secret has the same reference in a run, and another one in another run', async () => {
    const rows = rowsIn()
    const store = withKeys(rows, ['one'])
    await create(store, 'r')
    await store.append({
      runId: 'r',
      expectedSeq: 1,
      events: [event],
      head: { status: 'running', planVersion: 0 },
    })
    await create(store, 'other')
    const [first, second] = (await rows.read('r', 0)).map(({ payload }) => JSON.stringify(payload))
    expect(first).toBe(second)
    const [foreign] = (await rows.read('other', 0)).map(({ payload }) => JSON.stringify(payload))
    expect(foreign).not.toBe(first)
  })

  it('a reference of another run is not opened', async () => {
    const rows = rowsIn()
    const store = withKeys(rows, ['one'])
    await create(store)
    const copied = (await rows.read('r', 0)) as unknown as NewEvent[]
    await rows.create({
      runId: 'thief',
      tenant: 't',
      events: copied,
      head: { status: 'running', planVersion: 0 },
    })
    expect(await stored(store, 'thief')).not.toContain(secret)
  })

  it('stored responses to requests are sealed too', async () => {
    const rows = rowsIn()
    const { once } = withKeys(rows, ['one']).records
    await once.take('name', { body: { hash: 'h', answer: { token: secret } }, keepMs: 1_000 })
    expect(JSON.stringify(await rows.records.once.look('name'))).not.toContain(secret)
    expect(await once.look('name')).toEqual({ body: { hash: 'h', answer: { token: secret } } })
    await once.settle('name', { apiKey: secret })
    expect(JSON.stringify(await rows.records.once.look('name'))).not.toContain(secret)
  })
})

describe('without a key', () => {
  it('a key file is made beside the store with the first secret, for its owner only', async () => {
    const path = join(folder, 'runs.db-secret-key')
    const rows = rowsIn(path)
    const store = withKeys(rows, [])
    await store.create({
      runId: 'plain',
      tenant: 't',
      events: [],
      head: { status: 'running', planVersion: 0 },
    })
    expect(existsSync(path), 'before the first secret').toBe(false)
    await create(store)
    expect(readFileSync(path, 'utf8')).toMatch(/^[\da-f]{64}\n$/)
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(await stored(rows)).not.toContain(secret)
    expect(await stored(withKeys(rows, [])), 'after a restart').toContain(secret)
    expect(await stored(withKeys(rows, ['configured later'])), 'with a configured key').toContain(secret)
  })

  it('a store without a place for one keeps secrets as they are, and reports it once', async () => {
    const rows = rowsIn()
    let reports = 0
    const store = withKeys(rows, [], { onClear: () => reports++ })
    await create(store, 'one')
    await create(store, 'two')
    expect(await stored(rows, 'one')).toContain(secret)
    expect(reports).toBe(1)
  })

  it('a memory store is left alone, and a sealed one is not sealed twice', () => {
    const memory = createMemoryStore()
    expect(withKeys(memory, ['one'])).toBe(memory)
    const sealed = withKeys(rowsIn(), ['one'])
    expect(withKeys(sealed, ['one'])).toBe(sealed)
  })
})
