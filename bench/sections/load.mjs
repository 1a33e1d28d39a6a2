/** How many runs a server carries at once when each is started and streamed by a client of its own, on the same machine. */
import { loadavg } from 'node:os'
import { resolve } from 'node:path'
import { median } from '../lib/measure.mjs'
import { ms, table, times } from '../lib/table.mjs'
import { createClient } from '../servers/client.mjs'
import { chain, idealMs } from '../servers/plan.mjs'
import { startServer } from '../servers/start.mjs'

/** With `--against` the folder of another built version of the package takes turns with this one, so that both have the same machine. */
export async function load({ quick, against }) {
  // Figures of a machine that others use too say little without it.
  const [busy] = loadavg()
  const sizes = quick ? [100, 500] : [100, 500, 1_000]
  const measure = (server, concurrent) =>
    measureLoad({
      server,
      warmUp: quick ? 200 : 1_000,
      steps: concurrent.map((size) => ({ concurrent: size, runs: quick ? size * 2 : 2_000 })),
    })
  if (against === undefined) return { idealMs, busy, rows: await measure({}, sizes) }
  const versions = { against: { root: resolve(against) }, own: {} }
  const turns = { against: [], own: [] }
  for (let turn = 0; turn < (quick ? 1 : 5); turn++)
    for (const [name, server] of Object.entries(versions)) turns[name].push(...(await measure(server, [500])))
  return { idealMs, busy, turns }
}

/** Measures one server: `server` says which one, `steps` how many runs at once, and how many in all or for how many seconds. */
export async function measureLoad({ server: given, warmUp, steps }) {
  const server = await startServer(given)
  const client = createClient(server.url)
  try {
    // So that both sides are compiled before anything counts.
    await atOnce(100, warmUp, () => client.stream(chain))
    const rows = []
    for (const { concurrent, ...wanted } of steps) {
      await server.ask('begin')
      const start = performance.now()
      const stream = () => client.stream(chain)
      const all = await (wanted.seconds === undefined
        ? atOnce(concurrent, wanted.runs, stream)
        : forSeconds(concurrent, wanted.seconds, stream))
      const seconds = (performance.now() - start) / 1_000
      const { lag, processorMs } = await server.ask('end')
      const found = all.filter(({ error }) => error === undefined)
      const runs = found.length
      rows.push({
        concurrent,
        runs,
        runsPerSecond: runs / seconds,
        eventsPerSecond: sum(found.map(({ events }) => events)) / seconds,
        accept: percentiles(found.map(({ acceptMs }) => acceptMs)),
        run: percentiles(found.map(({ runMs }) => runMs)),
        lag,
        // What others on the machine cannot take away.
        processorMs: processorMs / runs,
        gaps: sum(found.map(({ gaps }) => gaps)),
        shed: sum(found.map(({ shed }) => shed)),
        unfinished: found.filter(({ over }) => !over).length,
        failed: all.length - found.length,
      })
    }
    return rows
  } finally {
    client.close()
    await server.close()
  }
}

/** So many at any time, so many in all. */
async function atOnce(concurrent, total, work) {
  const results = []
  let begun = 0
  const worker = async () => {
    while (begun < total) {
      begun++
      results.push(await work())
    }
  }
  await Promise.all(Array.from({ length: concurrent }, worker))
  return results
}

/** So many at any time until the time is over. What is under way then does not count: a server that hangs must not hang the bench. */
async function forSeconds(concurrent, seconds, work) {
  const results = []
  let over = false
  const worker = async () => {
    while (!over) {
      // What was refused for good counts as such: other versions may fail where this one does not.
      const result = await work().catch((error) => ({ error }))
      if (!over) results.push(result)
    }
  }
  const workers = Promise.all(Array.from({ length: concurrent }, worker))
  const time = new Promise((resolve) => setTimeout(resolve, seconds * 1_000))
  await Promise.race([time, workers])
  over = true
  return results
}

const sum = (values) => values.reduce((all, value) => all + value, 0)

function percentiles(values) {
  const sorted = [...values].sort((one, other) => one - other)
  const at = (part) => sorted[Math.min(Math.floor(sorted.length * part), sorted.length - 1)] ?? Number.NaN
  return { p50: at(0.5), p99: at(0.99) }
}

export function showLoad({ idealMs: ideal, busy, rows, turns }) {
  const both = ({ p50, p99 }) => `${ms(p50)} / ${ms(p99)}`
  const names = { against: 'the other version', own: 'this version' }
  const named = turns
    ? Object.entries(turns).flatMap(([name, found]) => found.map((row) => [names[name], row]))
    : rows.map((row) => [row.concurrent, row])
  const figures = table(
    [
      turns ? '500 at once, turns in order' : 'runs with streams at once',
      'runs/s',
      'events/s',
      'accepted (p50 / p99)',
      `run, ideal ${ideal} ms (p50 / p99)`,
      'loop lag (p50 / p99)',
      'processor per run',
      'gaps',
      'unfinished',
    ],
    named.map(([name, row]) => [
      name,
      row.runsPerSecond.toFixed(0),
      row.eventsPerSecond.toFixed(0),
      both(row.accept),
      both(row.run),
      both(row.lag),
      ms(row.processorMs),
      row.gaps,
      row.unfinished,
    ]),
  )
  return `Load average of the machine before: ${busy.toFixed(1)}.\n\n${figures}${turns ? `\n\n${compare(turns)}` : ''}`
}

/** Medians of both versions in one sentence. */
export function compare({ own, against }) {
  const of = (rows, pick) => median(rows.map(pick))
  const ratio = (pick) => times(of(own, pick), of(against, pick))
  const rate = ratio(({ runsPerSecond }) => runsPerSecond)
  const processor = ratio(({ processorMs }) => processorMs)
  return `Medians: ${rate} the runs/s of the other version, ${processor} its processor time per run.`
}
