/** A report over four times as many spans takes about four times as long, and a short time of a long history little. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { openSqliteStore } from '../../src/adapters/stores/sqlite/sqlite.ts'
import type { Store } from '../../src/index.ts'
import { measureLowest } from '../remeasure.ts'
import { attemptEvents, newRun, type SampleQuery, startEvent } from '../seams/stores.ts'
import { asked, read } from './runs.ts'

const steps = ['a', 'b', 'c', 'd', 'e']
const small = 1_000
const large = 4_000

async function fill(store: Store, runs: number): Promise<void> {
  for (let from = 0; from < runs; from += 250) {
    const some = Array.from({ length: 250 }, (_, index) => from + index)
    await Promise.all(
      some.map((run) => {
        const trace = run % 3 === 0 ? [asked, read('semantic', `rule-${run % 7}`)] : [asked]
        const attempts = steps.flatMap((nodeId) =>
          attemptEvents({ nodeId, model: 'a/m', trace, endedAt: 10_000 + run }),
        )
        return store.create(newRun(`r-${run}`, { events: [startEvent(), ...attempts] }))
      }),
    )
  }
}

/** The least of several: the time without disturbance. */
async function fastest(store: Store, query: SampleQuery): Promise<number> {
  let least = Number.POSITIVE_INFINITY
  for (let turn = 0; turn < 7; turn++) {
    const began = performance.now()
    await store.sample(query)
    least = Math.min(least, performance.now() - began)
  }
  return least
}

it('grows with the number of attempts, and no faster', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'proviso-health-'))
  try {
    const open = (name: string) => openSqliteStore({ path: join(folder, name), synchronous: 'NORMAL' })
    const [few, many] = [await open('few.db'), await open('many.db')]
    await fill(few, small)
    await fill(many, large)
    const { groups, runs } = await many.sample({})
    expect(runs.total).toBe(large)
    expect(groups.reduce((sum, { attempts }) => sum + attempts, 0)).toBe(large * steps.length)
    const growth = await measureLowest(12, async () => (await fastest(many, {})) / (await fastest(few, {})))
    expect(growth).toBeLessThanOrEqual(12)
    const lately = { from: 10_000 + large - 40, to: 10_000 + large, slots: 4 }
    const share = await measureLowest(
      0.5,
      async () => (await fastest(many, lately)) / (await fastest(many, {})),
    )
    expect(share).toBeLessThanOrEqual(0.5)
    await few.close()
    await many.close()
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
