/** (c) The worst texts: does twice the text take twice the time, up to 5 MB? */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { hostileTexts } from '../../dist/testing/index.js'
import { ms, size, table } from '../lib/table.mjs'

const CHILD = fileURLToPath(new URL('../lib/linearity-child.mjs', import.meta.url))
/** Milliseconds below which a time says nothing about growth: the engine's own moods are as large. */
const FLOOR = 10
/** Growth above which a shape is measured again, longer. */
const DOUBTFUL = 2.3

export async function linearity({ quick }) {
  const sizes = quick ? [131_072, 262_144] : [1_310_720, 2_621_440, 5_242_880]
  const rows = hostileTexts.map(({ name }) => {
    const row = measured(name, sizes, quick ? 3 : 8)
    // The fastest of more turns is nearer to what the code costs; growth that is real stays.
    if (quick || row.growth <= DOUBTFUL) return row
    const again = measured(name, sizes, 24)
    return again.growth < row.growth ? again : row
  })
  rows.sort((a, b) => b.growth - a.growth)
  return {
    name: 'linearity',
    sizes,
    worst: rows[0].growth,
    slowest: Math.max(...rows.map((row) => Number(row.times.at(-1)) || 0)),
    rows,
  }
}

/**
 * Makes the collector work alike for every size. The young generation has a fixed size: it grows by default, and then the
 * shortest text is hardly collected at all. The old one is collected only at the end of every turn: by default the engine
 * begins at some size of the heap, so that one doubling would show a whole collection and the others none.
 */
const ENGINE = [
  '--expose-gc',
  '--single-threaded',
  '--min-semi-space-size=1',
  '--max-semi-space-size=1',
  '--initial-old-space-size=4000',
]

function measured(name, sizes, rounds) {
  const args = [...ENGINE, CHILD, name, sizes.join(), String(rounds)]
  const { stdout, status } = spawnSync(process.execPath, args, { encoding: 'utf8', timeout: 300_000 })
  const times = status === 0 ? JSON.parse(stdout) : sizes.map(() => 'too slow')
  return { name, times, growth: Math.max(...times.slice(1).map((time, i) => growth(times[i], time))) }
}

function growth(before, after) {
  if (typeof after !== 'number') return Number.POSITIVE_INFINITY
  return Math.max(after, FLOOR) / Math.max(before, FLOOR)
}

export function showLinearity({ sizes, rows }) {
  return table(
    [`hostile text (the ten of ${rows.length} that grow fastest)`, ...sizes.map(size), 'worst doubling'],
    rows.slice(0, 10).map((row) => [row.name, ...row.times.map(ms), `${row.growth.toFixed(2)} ×`]),
  )
}
