// @ts-check
/**
 * `npm run sim -- [--seeds N] [--seed S] [--loops] [--limits] [--json]`: simulates the engine under faults, from seed S on (default 1; with
 * `--loops` the first seeds whose plans have agents with tools, and whose agents call others; with `--limits` those whose
 * processes share limits).
 * `--seed S` alone replays that one history and prints its journals. `--mutants` inserts known defects into the engine, one
 * at a time, and prints which seed detects each (`--short`: only around the recorded seed; `--mutant NAME`: only that one).
 * Exit code 1 if a history is wrong, or a mutant is not detected.
 */
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { catchMutants } from './sim-mutants.mjs'
import { transpileSim } from './transpile-sim.mjs'

const { values } = parseArgs({
  options: {
    seeds: { type: 'string' },
    seed: { type: 'string' },
    loops: { type: 'boolean', default: false },
    limits: { type: 'boolean', default: false },
    failing: { type: 'string', default: '5' },
    json: { type: 'boolean', default: false },
    mutants: { type: 'boolean', default: false },
    mutant: { type: 'string' },
    short: { type: 'boolean', default: false },
    shard: { type: 'string', default: '1/1' },
    help: { type: 'boolean', default: false },
  },
})

if (values.help) {
  console.log('Usage: npm run sim -- [--seeds N] [--seed S] [--loops] [--limits] [--failing N] [--json]')
  console.log('       npm run sim -- --mutants [--mutant NAME] [--short] [--seeds N] [--shard I/N]')
  process.exit(0)
}

if (values.seed !== undefined && (values.loops || values.limits)) {
  console.error('--loops and --limits choose the first seed: leave them out with --seed')
  process.exit(2)
}
if (values.mutants || values.mutant !== undefined) process.exit(await mutants())
process.exit(values.seed !== undefined && values.seeds === undefined ? await replay() : await histories())

async function histories() {
  /** @type {typeof import('../test/sim/run-seeds.ts')} */
  const { runSeeds } = await load('run-seeds')
  const run = (/** @type {number} */ from, /** @type {number} */ seeds) =>
    runSeeds({
      from,
      count: seeds,
      mostFailing: Number(values.failing),
      onProgress: ({ histories, crashes, failing }) =>
        progress(`${histories} histories, ${crashes} crashes, ${failing.length} failing seeds`),
    })
  /** Half with agents alone, half with agents that call and follow others. */
  const loops = async () => {
    const { firstLoopSeed, firstNestedSeed } = await load('scenario')
    const one = await run(firstLoopSeed, Math.ceil(count / 2))
    const other = await run(firstNestedSeed, Math.floor(count / 2))
    const sums = Object.entries(one).map(([name, value]) => {
      const more = /** @type {any} */ (other)[name]
      return [name, Array.isArray(value) ? [...value, ...more] : value + more]
    })
    return /** @type {typeof one} */ (Object.fromEntries(sums))
  }
  const began = performance.now()
  const cpu = process.cpuUsage()
  const count = Number(values.seeds ?? 1000)
  const summary = await (values.loops && values.seed === undefined
    ? loops()
    : run(Number(values.seed ?? (values.limits ? (await load('scenario')).firstLimitSeed : 1)), count))
  progress('')
  const seconds = (performance.now() - began) / 1000
  const { user, system } = process.cpuUsage(cpu)
  const cpuSeconds = (user + system) / 1e6
  if (values.json) console.log(JSON.stringify({ ...summary, seconds, cpuSeconds }))
  else {
    const { seeds, histories, crashes, errors, stalls, events, failing } = summary
    console.log(
      `${seeds} seeds, ${histories} histories in ${seconds.toFixed(1)} s (${cpuSeconds.toFixed(1)} s of processor time, ` +
        `${Math.round(histories / cpuSeconds)}/s): ${crashes} crashes, ${errors} store errors, ${stalls} stalls, ` +
        `${events} events; ${failing.length} seeds with violations`,
    )
    for (const { seed, violations } of failing) {
      console.log(`\nseed ${seed}, to see it again: npm run sim -- --seed ${seed}`)
      for (const violation of violations.slice(0, 5)) console.log(`  ${violation}`)
    }
  }
  return summary.failing.length > 0 ? 1 : 0
}

async function replay() {
  /** @type {typeof import('../test/sim/oracle.ts')} */
  const { playHistory } = await load('oracle')
  const seed = Number(values.seed)
  const { journals, violations, ...counts } = await playHistory(seed)
  if (values.json)
    console.log(JSON.stringify({ seed, violations, counts, journals: Object.fromEntries(journals) }))
  else {
    for (const journal of journals.values()) {
      const start = journal[0]?.at ?? 0
      for (const { runId, seq, type, nodeId = '', at, payload } of journal)
        console.log(
          `${runId} ${String(seq).padStart(4)} ${at - start} ms ${type} ${nodeId} ${short(payload)}`,
        )
    }
    console.log(JSON.stringify(counts))
    for (const violation of violations) console.log(`violation: ${violation}`)
  }
  return violations.length > 0 ? 1 : 0
}

async function mutants() {
  const [nth = 1, of = 1] = values.shard.split('/').map(Number)
  const caught = await catchMutants({
    short: values.short,
    seeds: Number(values.seeds ?? 5000),
    shard: [nth, of],
    ...(values.mutant !== undefined && { name: values.mutant }),
    onCaught: ({ name, seed, seconds, violation }) => {
      if (!values.json)
        console.log(
          `${String(seed ?? 'NOT SEEN').padStart(8)}  ${seconds.toFixed(1)} s  ${name}: ${violation}`,
        )
    },
  })
  const missed = caught.filter(({ seed }) => seed === undefined)
  if (values.json) console.log(JSON.stringify({ caught, missed: missed.map(({ name }) => name) }))
  else console.log(`${caught.length - missed.length} of ${caught.length} mutants seen`)
  return missed.length > 0 || caught.length === 0 ? 1 : 0
}

/** @param {string} file */
function load(file) {
  return import(pathToFileURL(join(transpileSim(), 'test', 'sim', `${file}.js`)).href)
}

/** @param {string} text */
function progress(text) {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${text}`)
}

/** @param {unknown} payload */
function short(payload) {
  const { plan, diagnostics, facetProvenance, envelope, draft, ...rest } =
    /** @type {Record<string, unknown>} */ (payload)
  return JSON.stringify(rest).slice(0, 220)
}
