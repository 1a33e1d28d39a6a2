/**
 * Times one hostile text at several sizes, in a process of its own: what another shape left behind (compiled code that
 * fits it badly, a grown heap) would count against this one. Called with the name, the sizes and the most rounds.
 * What counts is processor time, and the engine runs on one thread (`--single-threaded`): so collecting and compiling
 * are in the figure, and the work of others on the machine is not.
 */
import { parse } from '../../dist/output/index.js'
import { hostileTexts } from '../../dist/testing/index.js'
import { schema } from './documents.mjs'
import { cpuTime, wouldTakeTooLong } from './measure.mjs'

const [name, sizeList, rounds] = process.argv.slice(2)
const sizes = sizeList.split(',').map(Number)
const { make } = hostileTexts.find((shape) => shape.name === name)

/** Milliseconds that one shape may take, the first three rounds aside. */
const BUDGET = 4000

const small = make(65_536)
const warm = performance.now() + 500
do parse(small, schema)
while (performance.now() < warm)

const times = sizes.map(() => Number.POSITIVE_INFINITY)
const until = performance.now() + BUDGET
// The sizes take turns, so that a slow moment of the machine meets all of them; the fastest turn of each counts.
for (let round = 0; round < Number(rounds) && (round < 3 || performance.now() < until); round++) {
  for (const [index, size] of sizes.entries()) {
    if (round === 0 && index > 0 && wouldTakeTooLong(times.slice(0, index), sizes, size, 20_000))
      times[index] = 'too slow'
    if (times[index] === 'too slow') continue
    times[index] = Math.min(times[index], once(make(size)))
  }
}
console.log(JSON.stringify(times))

/**
 * Milliseconds for reading the text and one full collection while its result is alive, which costs in proportion to what
 * reading has allocated; without what a collection costs anyway.
 */
function once(text) {
  // Before every turn: what the last one left is not this one's to clear away.
  globalThis.gc()
  const idle = cpuTime(() => globalThis.gc())
  return Math.max(0, cpuTime(() => collectBeside(parse(text, schema))) - idle)
}

function collectBeside(result) {
  globalThis.gc()
  return result
}
