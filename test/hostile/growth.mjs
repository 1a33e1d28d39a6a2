// @ts-check
/**
 * How the time for hostile texts grows with their size, in a process of its own and in processor time, so that neither
 * other tests nor other work on the machine count. Called with names, sizes, the milliseconds below which a time says
 * nothing, and the growth that is allowed; prints a line of JSON for each name.
 *
 * Needs `--expose-gc`; `--single-threaded`, so that what the engine does beside the reader is counted; and a small young
 * generation, because one that a small text fits into and a large one does not looks like growth.
 */

// The built package, by computed addresses: the type check works without a build.
const { parse } = /** @type {typeof import('../../src/output/index.ts')} */ (
  await import(String(new URL('../../dist/output/index.js', import.meta.url)))
)
const { hostileTexts } = /** @type {typeof import('../../src/testing/index.ts')} */ (
  await import(String(new URL('../../dist/testing/index.js', import.meta.url)))
)

const SCHEMA = {
  type: 'object',
  properties: { a: { type: 'string' }, b: { type: 'array', items: { type: 'object' } } },
  required: ['a'],
}
const MOST_TURNS = 12

const [names, sizeList, floor, limit] = process.argv.slice(2)
const sizes = String(sizeList).split(',').map(Number)

for (const name of String(names).split(',')) {
  const shape = hostileTexts.find((each) => each.name === name)
  if (shape === undefined) throw new Error(`no hostile text is called ${name}`)
  const times = measured(shape.make)
  console.log(JSON.stringify({ name, times, worst: worst(times) }))
}

/**
 * The sizes take turns and the fastest turn of each counts. As long as the growth looks bad there are more turns: they
 * calm what the engine does while it warms up, and a reader that is really slow gains nothing by them.
 * @param {(size: number) => string} make
 */
function measured(make) {
  let times = sizes.map(() => Number.POSITIVE_INFINITY)
  for (let turn = 0; turn < MOST_TURNS && (turn < 2 || worst(times) > Number(limit)); turn++)
    times = times.map((time, i) => Math.min(time, once(make(Number(sizes[i])))))
  return times
}

/**
 * The growth per doubling, over two doublings where there are three sizes: the size at which the data no longer fits into
 * the processor's cache would count as growth of its own.
 * @param {number[]} times
 */
function worst(times) {
  const floored = times.map((time) => Math.max(time, Number(floor)))
  const doublings = Math.min(2, floored.length - 1)
  const growths = floored.slice(doublings).map((time, i) => time / Number(floored[i]))
  return Math.max(...growths) ** (1 / doublings)
}

/** @param {string} text */
function once(text) {
  globalThis.gc?.()
  const start = process.cpuUsage()
  parse(text, SCHEMA)
  const { user, system } = process.cpuUsage(start)
  return (user + system) / 1000
}
