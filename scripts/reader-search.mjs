// @ts-check
/**
 * Searches for texts and schemas that make the reader throw or run slowly.
 *
 *   node scripts/reader-search.mjs [--from 1] [--seeds 1000000] [--length 200] [--most 10] [--memory 1500] [--json]
 *   node scripts/reader-search.mjs --mutants      restores each known flaw and fails if the search misses it
 */
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { forget, transpileMutant, transpileSim } from './transpile-sim.mjs'

const { values } = parseArgs({
  options: {
    from: { type: 'string', default: '1' },
    seeds: { type: 'string', default: '1000000' },
    length: { type: 'string', default: '200' },
    most: { type: 'string', default: '10' },
    memory: { type: 'string', default: '1500' },
    json: { type: 'boolean', default: false },
    mutants: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})

const HELP = `Usage: node scripts/reader-search.mjs [options]

  --from SEED     first seed (default 1)
  --seeds N       number of pairs of a schema and a text, one for each seed (default 1000000)
  --length N      characters of the shorter text of a pair (default 200; one in 20 is 20 times as long)
  --most N        print at most so many findings; all are counted (default 10)
  --memory MB     fail when the process has had more memory than this (default 1500)
  --json          print the result as JSON
  --mutants       restore each known flaw and fail if the search misses it

Progress goes to stderr. The exit code is 1 when anything was found.`

if (values.help) {
  console.log(HELP)
  process.exit(0)
}

process.exitCode = values.mutants ? await findMutants() : await searchPairs()

async function searchPairs() {
  /** @type {typeof import('../test/reader/search.ts')} */
  const { search } = await load(transpileSim(), 'search')
  const [from, pairs, length, most] = [values.from, values.seeds, values.length, values.most].map(Number)
  const found = search({
    from: from ?? 1,
    pairs: pairs ?? 0,
    length: length ?? 200,
    most: most ?? 10,
    onProgress: (now) => console.error(`${summary(now)}`),
  })
  if (values.json) console.log(JSON.stringify({ from, length, ...found, rate: rateOf(found) }, undefined, 2))
  else {
    for (const { seed, what, text, schema } of found.findings)
      console.log(
        `seed ${seed}: ${what}\n  ${JSON.stringify(text.slice(0, 160))}\n  ${JSON.stringify(schema)}`,
      )
    console.log(summary(found))
  }
  return found.count > 0 || found.memory > Number(values.memory) ? 1 : 0
}

/** @param {import('../test/reader/search.ts').Found} found */
function summary(found) {
  const { count, pairs, timed, seconds, memory } = found
  return `${count} findings in ${pairs} pairs (${timed} timed), ${seconds} s of processor time (${rateOf(found)} pairs/s), at most ${memory} MB resident`
}

/** @param {import('../test/reader/search.ts').Found} found */
function rateOf({ pairs, seconds }) {
  return Math.round(pairs / Math.max(1, seconds))
}

async function findMutants() {
  /** @type {typeof import('../test/reader/mutants.ts')} */
  const { mutants, firstKnownFault } = await load(transpileSim(), 'mutants')
  const own = firstKnownFault()
  if (own !== undefined) console.log(`without a mutant: ${own}`)
  let missed = own === undefined ? 0 : 1
  for (const mutant of mutants) {
    const folder = transpileMutant(mutant)
    /** @type {typeof import('../test/reader/mutants.ts')} */
    const mutated = await load(folder, 'mutants')
    const found = mutated.firstKnownFault()
    forget(folder)
    if (found === undefined) missed++
    console.log(
      `${found === undefined ? 'MISSED' : 'found '} ${mutant.name}${found ? `: ${found.slice(0, 120)}` : ''}`,
    )
  }
  return missed > 0 ? 1 : 0
}

/** @param {string} folder @param {string} file */
function load(folder, file) {
  return import(pathToFileURL(join(folder, 'test', 'reader', `${file}.js`)).href)
}
