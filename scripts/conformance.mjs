// @ts-check
/**
 * `npm run conformance -- schemas [--json]`: plays the official JSON Schema test suites through every validator and prints,
 * for each draft, what passed and each failure. The suite is found by `schema-suite.mjs`.
 *
 * `npm run conformance -- libraries [--only PACKAGE] [--json]`: reads clean and slipped texts with the schemas of Zod 3, 4.0,
 * 4.1, 4.2 and the newest, Valibot and ArkType, feature by feature, and prints the matrix.
 *
 * `npm run conformance -- models|agents [--only NAME] [--json]`: calls hostile servers on loopback (throttling, refusing,
 * hanging, cutting, lying, answering late or twice) through every provider, or as HTTP agents, and prints the calls made, the
 * time waited, the outcome and whether the fallback answered. Exit code 1 if a row differs from what is promised.
 */
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { transpileSim } from './transpile-sim.mjs'

const usage = 'Usage: npm run conformance -- models|agents|schemas|libraries [--only NAME]... [--json]'
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    only: { type: 'string', multiple: true },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})
const [subject] = positionals
if (values.help) {
  console.log(usage)
  process.exit(0)
}
if (subject === 'schemas' && positionals.length === 1) process.exit(await playSchemas())
if (subject === 'libraries' && positionals.length === 1) process.exit(await playColumns())
if ((subject !== 'models' && subject !== 'agents') || positionals.length > 1) {
  console.error(usage)
  process.exit(2)
}

/** @typedef {import('../test/conformance/play.ts').Played} Played */
/** @type {typeof import('../test/conformance/play.ts')} */
const { playAll } = await import(pathToFileURL(join(transpileSim(), 'test', 'conformance', 'play.js')).href)
if (!values.json) print(['EXECUTOR', 'SERVER', 'CALLS', 'WAITED', 'OUTCOME', 'FALLBACK', 'AS PROMISED'])
const played = await playAll(subject, {
  ...(values.only && { only: values.only }),
  onPlayed: (/** @type {Played} */ row) => {
    if (!values.json) print(cells(row))
  },
})
const wrong = played.filter(({ differences }) => differences.length > 0)
if (values.json) console.log(JSON.stringify({ subject, rows: played, wrong: wrong.length }))
else console.log(`${played.length - wrong.length} of ${played.length} rows are as promised`)
// An empty selection proves nothing and counts as a failure.
process.exit(wrong.length > 0 || played.length === 0 ? 1 : 0)

/** Runs the official suites; exit code 1 if a row differs from the expected table. */
async function playSchemas() {
  const folder = join(transpileSim(), 'test', 'conformance')
  const { missingSuite, suiteFolder } = await import('./schema-suite.mjs')
  /** @type {typeof import('../test/conformance/schemas.ts')} */
  const { playSuite } = await import(pathToFileURL(join(folder, 'schemas.js')).href)
  /** @type {typeof import('../test/conformance/schema-table.ts')} */
  const { differences } = await import(pathToFileURL(join(folder, 'schema-table.js')).href)
  const suite = suiteFolder()
  if (suite === undefined) {
    console.error(missingSuite)
    return 2
  }
  const widths = [13, 9, 20, 7, 7]
  if (!values.json) print(['DRAFT', 'PART', 'VALIDATOR', 'PASSED', 'FAILED'], widths)
  const rows = playSuite(suite, (row) => {
    if (values.json || (values.only && !values.only.includes(row.validator))) return
    print([row.draft, row.part, row.validator, String(row.passed), String(row.failed)], widths)
    for (const { file, group, test, valid, error } of row.failures)
      console.log(`    ${file}: ${group}: ${test} (${error ?? `must be ${valid ? 'valid' : 'invalid'}`})`)
  })
  const wrong = differences(rows)
  if (values.json) console.log(JSON.stringify({ subject: 'schemas', rows, wrong }))
  else for (const line of wrong) console.log(`NOT AS PROMISED: ${line}`)
  return wrong.length > 0 ? 1 : 0
}

/** Runs the matrix of schema libraries; exit code 1 if a cell differs from the expected one. */
async function playColumns() {
  const file = join(transpileSim(), 'test', 'conformance', 'libraries', 'play.js')
  /** @type {typeof import('../test/conformance/libraries/play.ts')} */
  const { columns, playLibraries } = await import(pathToFileURL(file).href)
  const names = Object.keys(columns).filter((name) => values.only?.includes(name) ?? true)
  const cells = playLibraries(names)
  const wrong = cells.filter(({ differences }) => differences.length > 0)
  if (values.json) console.log(JSON.stringify({ subject: 'libraries', cells, wrong: wrong.length }))
  else {
    const widths = [21, ...names.map((name) => Math.max(name.length, 4) + 1)]
    print(['FEATURE', ...names], widths)
    for (const feature of new Set(cells.map((cell) => cell.feature)))
      print([feature, ...cells.filter((cell) => cell.feature === feature).map(verdictOf)], widths)
    for (const { feature, library, differences } of wrong)
      console.log(`NOT AS PROMISED: ${feature}, ${library}: ${differences.join('; ')}`)
  }
  return wrong.length > 0 || cells.length === 0 ? 1 : 0
}

/** @param {import('../test/conformance/libraries/play.ts').Cell} cell */
function verdictOf({ read, differences }) {
  return read.length === 0 ? '-' : differences.length === 0 ? 'yes' : 'NO'
}

/** @param {Played} row */
function cells({ executor, row, calls, waitedMs, outcome, fallback, differences }) {
  const verdict = differences.length === 0 ? 'yes' : `NO: ${differences.join('; ')}`
  return [executor, row, String(calls), `${waitedMs} ms`, outcome, fallback ? 'yes' : 'no', verdict]
}

/** @param {readonly string[]} row @param {readonly number[]} [widths] */
function print(row, widths = [12, 32, 6, 9, 15, 9]) {
  console.log(
    row
      .map((cell, index) => cell.padEnd(widths[index] ?? 0))
      .join(' ')
      .trimEnd(),
  )
}
