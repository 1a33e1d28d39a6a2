// @ts-check
/**
 * Searches for texts and schemas that make the reader throw or run slowly.
 *
 *   node scripts/reader-search.mjs [--from 1] [--seeds 1000000] [--length 200] [--most 10] [--memory 1500] [--state FILE] [--json]
 *   node scripts/reader-search.mjs --mutants      restores each known flaw and fails if the search misses it
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { forget, transpileMutant, transpileSim } from './transpile-sim.mjs'

const PROGRESS_EACH = 60_000

const { values } = parseArgs({
  options: {
    from: { type: 'string', default: '1' },
    seeds: { type: 'string', default: '1000000' },
    length: { type: 'string', default: '200' },
    most: { type: 'string', default: '10' },
    memory: { type: 'string', default: '1500' },
    state: { type: 'string' },
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
  --state FILE    keep the counts and findings so far in this file, and continue from it when the search is started again
  --json          print the result as JSON
  --mutants       restore each known flaw and fail if the search misses it

Progress goes to stderr, and to the file of --state, once a minute. Ranges of seeds are independent: split a search with
--from and --seeds. The exit code is 1 when anything was found.`

if (values.help) {
  console.log(HELP)
  process.exit(0)
}

process.exitCode = values.mutants ? await findMutants() : await searchPairs()

/** @typedef {import('../test/reader/search.ts').Found} Found */

async function searchPairs() {
  /** @type {typeof import('../test/reader/search.ts')} */
  const { search } = await load(transpileSim(), 'search')
  const range = { from: Number(values.from), length: Number(values.length), most: Number(values.most) }
  const pairs = Number(values.seeds)
  const before = readState(range)
  let shown = Date.now()
  const rest = search({
    ...range,
    from: range.from + before.pairs,
    pairs: Math.max(0, pairs - before.pairs),
    onProgress(now) {
      if (Date.now() - shown < PROGRESS_EACH) return
      shown = Date.now()
      keep(range, add(before, now))
      console.error(summary(add(before, now)))
    },
  })
  const found = add(before, rest)
  keep(range, found)
  if (values.json) console.log(JSON.stringify({ ...range, ...found, rate: rateOf(found) }, undefined, 2))
  else {
    for (const { seed, what, text, schema } of found.findings)
      console.log(
        `seed ${seed}: ${what}\n  ${JSON.stringify(text.slice(0, 160))}\n  ${JSON.stringify(schema)}`,
      )
    console.log(summary(found))
  }
  return found.count > 0 || found.memory > Number(values.memory) ? 1 : 0
}

/** @typedef {{ from: number, length: number, most: number }} Range */

/**
 * What an earlier search of the same range has found; nothing without one.
 * @param {Range} range
 * @returns {Found}
 */
function readState(range) {
  const nothing = { pairs: 0, count: 0, throws: 0, findings: [], limited: 0, timed: 0, memory: 0, seconds: 0 }
  if (values.state === undefined || !existsSync(values.state)) return nothing
  const kept = JSON.parse(readFileSync(values.state, 'utf8'))
  if (kept.from === range.from && kept.length === range.length) return kept.found
  throw new Error(
    `${values.state} belongs to a search with --from ${kept.from} --length ${kept.length}: pass these, or another file`,
  )
}

/** @param {Range} range @param {Found} found */
function keep({ from, length }, found) {
  if (values.state !== undefined) writeFileSync(values.state, JSON.stringify({ from, length, found }))
}

/**
 * @param {Found} a
 * @param {Found} b
 * @returns {Found}
 */
function add(a, b) {
  return {
    pairs: a.pairs + b.pairs,
    count: a.count + b.count,
    throws: a.throws + b.throws,
    findings: [...a.findings, ...b.findings].slice(0, Number(values.most)),
    limited: a.limited + b.limited,
    timed: a.timed + b.timed,
    memory: Math.max(a.memory, b.memory),
    seconds: a.seconds + b.seconds,
  }
}

/** @param {Found} found */
function summary(found) {
  const { count, throws, limited, pairs, timed, seconds, memory } = found
  return `${throws} throws, ${count} findings in ${pairs} pairs (${timed} timed, ${limited} above the default limit of steps), ${seconds} s of processor time (${rateOf(found)} pairs/s), at most ${memory} MB resident`
}

/** @param {Found} found */
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
