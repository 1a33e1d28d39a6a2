/** (c) The worst texts: does twice the text take twice the time, up to 5 MB? */
import { parse } from '../../dist/output/index.js'
import { hostileTexts } from '../../dist/testing/index.js'
import { schema } from '../lib/documents.mjs'
import { fastest, wouldTakeTooLong } from '../lib/measure.mjs'
import { ms, size, table } from '../lib/table.mjs'

export async function linearity({ quick }) {
  const sizes = quick ? [131_072, 262_144] : [1_310_720, 2_621_440, 5_242_880]
  const rows = []
  for (const { name, make } of hostileTexts) {
    const times = []
    for (const bytes of sizes) {
      if (times.length > 0 && wouldTakeTooLong(times, sizes, bytes, 20_000)) {
        times.push('too slow')
        continue
      }
      const text = make(bytes)
      times.push(await fastest(() => parse(text, schema), quick ? 2 : 3))
    }
    const growth = times
      .slice(1)
      .map((time, i) => (typeof time === 'number' ? time / Math.max(times[i], 1) : Number.POSITIVE_INFINITY))
    rows.push({ name, times, growth: Math.max(...growth) })
  }
  rows.sort((a, b) => b.growth - a.growth)
  return {
    name: 'linearity',
    sizes,
    worst: rows[0].growth,
    slowest: Math.max(...rows.map((row) => Number(row.times.at(-1)) || 0)),
    rows,
  }
}

export function showLinearity({ sizes, rows }) {
  return table(
    [`hostile text (the ten of ${rows.length} that grow fastest)`, ...sizes.map(size), 'worst doubling'],
    rows.slice(0, 10).map((row) => [row.name, ...row.times.map(ms), `${row.growth.toFixed(2)} ×`]),
  )
}
