// @ts-check
/**
 * `npm run capacity -- [--runs-per-day N] [--nodes N] [--measured FILE] [--set NAME=VALUE…] [--json]`: what a load needs, by the
 * model of docs/scaling.md. FILE is what `npm run bench -- scale --json` prints.
 */
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { assumed, plan, simulate } from './capacity-model.mjs'

const { values } = parseArgs({
  options: {
    'runs-per-day': { type: 'string', multiple: true },
    nodes: { type: 'string', default: '10' },
    measured: { type: 'string' },
    set: { type: 'string', multiple: true, default: [] },
    json: { type: 'boolean', default: false },
  },
})
const loads = (values['runs-per-day'] ?? ['1000000', '100000000']).map(Number)
const nodes = Number(values.nodes)
const given = { ...assumed, ...Object.fromEntries(values.set.map(readSetting)) }
const measured = readMeasured(values.measured ?? new URL('capacity-measured.json', import.meta.url))
if (![...loads, nodes].every((value) => Number.isFinite(value) && value > 0))
  fail('Numbers must be above zero')

const results = loads.map((runsPerDay) => {
  const needed = plan({ runsPerDay, nodes }, measured, given)
  const arrivals = needed.runsPerSecond.peak / needed.databases
  const processes = Math.max(2, Math.ceil(needed.processes / needed.databases))
  const load = {
    arrivals,
    processes,
    workMs: measured.nodeCpuMs * nodes,
    seconds: Math.min(600, 200_000 / arrivals),
  }
  const calm = simulate(load)
  const crash = simulate({ ...load, crashAt: load.seconds / 2 })
  return { runsPerDay, nodes, ...needed, calm, crash }
})

if (values.json) console.log(JSON.stringify({ measured, assumed: given, results }))
else {
  for (const result of results) console.log(`${describe(result)}\n`)
  console.log('Measured:', JSON.stringify(measured))
  console.log('Assumed: ', JSON.stringify(given))
}

/** @param {string} text @returns {[string, number]} */
function readSetting(text) {
  const [name = '', value = ''] = text.split('=')
  if (!Object.hasOwn(assumed, name) || !(Number(value) > 0))
    fail(`--set must be NAME=NUMBER with one of ${Object.keys(assumed).join(', ')}, got "${text}"`)
  return [name, Number(value)]
}

/** @param {string | URL} file @returns {import('./capacity-model.mjs').Measured} */
function readMeasured(file) {
  const found = JSON.parse(readFileSync(file, 'utf8'))
  if (found.workers === undefined) return found
  // Of the bench: the row with the most workers, which is the nearest to a fleet.
  const row = found.workers.rows
    .filter((/** @type {{ name: string }} */ { name }) => name === 'leases')
    .at(-1)
  const { bytes: storedBytes, wal: walBytes, rows, commits } = row.storage
  return { nodes: 10, nodeCpuMs: row.cpuMs, serverMs: row.serverMs, storedBytes, walBytes, rows, commits }
}

/** @param {(typeof results)[number]} result */
function describe({
  runsPerDay,
  nodes: each,
  runsPerSecond,
  active,
  cores,
  processes,
  database,
  databases,
  limit,
  calm,
  crash,
}) {
  const round = (/** @type {number} */ value) =>
    value >= 10 ? Math.round(value).toLocaleString('en') : value.toFixed(1)
  return [
    `${runsPerDay.toLocaleString('en')} runs a day of ${each} nodes: ${round(runsPerSecond.average)} runs/s, ${round(runsPerSecond.peak)} at the peak`,
    `  processes   ${processes} (${round(cores)} cores for the engine), ${round(active)} runs active at once`,
    `  PostgreSQL  ${databases} (limited by ${limit}); together ${round(database.cores)} cores, ${round(database.walMbPerSecond)} MB/s of log, ${round(database.commitsPerSecond)} commits/s, ${round(database.storedTb)} TB, ${round(database.rowsPerDay / 1e6)} million rows a day`,
    `  simulated   each database with its processes at the peak: in use ${Math.round(calm.use * 100)} %, waiting p99 ${round(calm.waitMs.p99)} ms; with a process lost ${round(crash.waitMs.p99)} ms`,
  ].join('\n')
}

/** @param {string} why */
function fail(why) {
  console.error(why)
  process.exit(2)
}
