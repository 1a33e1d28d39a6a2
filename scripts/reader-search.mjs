// @ts-check
/**
 * Searches for texts and schemas that make the reader throw or slow.
 *
 *   node scripts/reader-search.mjs [--from 1] [--pairs 1000000] [--length 200]
 *   node scripts/reader-search.mjs --mutants      restores each known flaw and fails if the search misses it
 */
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { forget, transpileMutant, transpileSim } from './transpile-sim.mjs'

const { values } = parseArgs({
  options: {
    from: { type: 'string', default: '1' },
    pairs: { type: 'string', default: '1000000' },
    length: { type: 'string', default: '200' },
    mutants: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})

if (values.help) {
  console.log('Usage: node scripts/reader-search.mjs [--from SEED] [--pairs N] [--length N] [--mutants]')
  process.exit(0)
}

process.exitCode = values.mutants ? await findMutants() : await searchPairs()

async function searchPairs() {
  /** @type {typeof import('../test/reader/search.ts')} */
  const { search } = await load(transpileSim(), 'search')
  const began = performance.now()
  const pairs = Number(values.pairs)
  const findings = search({ from: Number(values.from), pairs, length: Number(values.length) })
  for (const { seed, what, text, schema } of findings)
    console.log(`seed ${seed}: ${what}\n  ${JSON.stringify(text.slice(0, 160))}\n  ${JSON.stringify(schema)}`)
  const memory = Math.round(process.resourceUsage().maxRSS / 1024)
  const seconds = Math.round((performance.now() - began) / 1000)
  console.log(`${findings.length} findings in ${pairs} pairs, ${seconds} s, at most ${memory} MB resident`)
  return findings.length > 0 ? 1 : 0
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
