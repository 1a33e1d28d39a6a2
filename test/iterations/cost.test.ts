/** What a map costs grows with the number of its items and with nothing else. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { createApp } from '../../src/index.ts'
import { measureLowest } from '../remeasure.ts'
import { envelope, mapDraft, working } from './support.ts'

const long = process.env['PROVISO_LONG'] === '1'
const count = long ? 5_000 : 500

const folder = mkdtempSync(join(tmpdir(), 'proviso-map-cost-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

let stores = 0

/** Processor time of a run, in milliseconds: other processes do not count, other test files in threads of this one do. */
async function costOf(items: number): Promise<number> {
  const double = working('double', (value: number) => value * 2)
  const app = await createApp({ store: `sqlite:${join(folder, `${++stores}.db`)}`, capabilities: [double] })
  try {
    const before = process.cpuUsage()
    const list = Array.from({ length: items }, (_, index) => index)
    const draft = mapDraft('double', { maxItems: items })
    const result = await app.run(envelope({ items: list }), { draft })
    const { user, system } = process.cpuUsage(before)
    expect(result.status).toBe('completed')
    // When the run is over, nothing of its items is left in the state but the list.
    const state = await app.state(result.runId)
    expect([state.nodes.size, state.instances.size, state.outgoing.size]).toEqual([1, 0, 1])
    return (user + system) / 1000
  } finally {
    await app.close()
  }
}

/** Garbage collection and other tests only add to a measurement: of three, the least is nearest to what the run costs. */
async function leastCostOf(items: number): Promise<number> {
  const costs = [await costOf(items), await costOf(items), await costOf(items)]
  return Math.min(...costs)
}

it(
  'on SQLite twice the items cost at most two and a half times as much',
  async () => {
    await costOf(count / 5)
    const growth = await measureLowest(2.5, async () => {
      const [once, twice] = [await leastCostOf(count), await leastCostOf(count * 2)]
      console.log(`map of ${count}: ${Math.round(once)} ms, of ${count * 2}: ${Math.round(twice)} ms`)
      return twice / once
    })
    expect(growth).toBeLessThanOrEqual(2.5)
  },
  long ? 10 * 60_000 : 2 * 60_000,
)
