/** The chain counts commits of events and of deletions alike, and is read back from the file. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openLibsql } from '../drivers/libsql.ts'
import { openSqliteStore } from '../sqlite.ts'
import { readAnchor } from './anchor.ts'
import { readChain, readCommit } from './commit-chain.ts'
import { compareCounts } from './compare-anchor.ts'

let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'proviso-chain-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const head = { status: 'completed', planVersion: 0 } as const
const event = (at: number) =>
  ({ type: 'log', version: 1, at, planVersion: 0, payload: { event: 'x' } }) as const

/** Creates runs, opens the file again, deletes the newest runs first of all, creates more. */
async function writeAndDelete(path: string): Promise<void> {
  let store = await openSqliteStore({ path })
  const create = (runId: string) => store.create({ runId, tenant: 't', events: [event(1), event(2)], head })
  for (const runId of ['a', 'b', 'c', 'd']) await create(runId)
  await store.close()
  store = await openSqliteStore({ path })
  const erased = await store.erase({ runIds: ['c', 'd'], by: 'ann', receiptId: 'r1' })
  expect(erased.events).toBe(4)
  await create('e')
  await store.close()
}

it('has every commit at its place, counted as the file counts, and the newest in the anchor', async () => {
  const path = join(folder, 'runs.sqlite')
  await writeAndDelete(path)
  const connection = openLibsql(path)
  const chain = readChain(connection)
  if (chain === undefined) throw new Error('The file has no chain')
  const { newest } = chain
  expect(readAnchor(`${path}-anchor`)?.last).toMatchObject({ ...newest })
  expect(compareCounts(connection)).toEqual([])
  const [counted] = connection.execute(
    'select (select count(*) from flex_runs) as runs, (select sum(events) from flex_events) as events',
  )
  expect({ runs: newest.runs, events: newest.events }).toEqual(counted)
  const found = Array.from({ length: newest.n + 1 }, (_, n) => readCommit(connection, n, newest)?.n)
  // Commits whose events were deleted since are not found, which is in order.
  for (const [n, at] of found.entries()) expect([n, undefined]).toContain(at)
  expect(found.at(-1)).toBe(newest.n)
  expect(found.at(-2)).toBe(newest.n - 1)
  connection.close()
})
