/** Whether an event costs more in a long run than in a short one, in a full store than in an empty one, in a large plan. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineCapabilities, envelope, loadProviso } from '../engines/proviso.mjs'
import { median } from '../lib/measure.mjs'
import { ms, table, times } from '../lib/table.mjs'

const head = { status: 'running', planVersion: 0, wakeAt: 0 }
const event = (at) => ({
  type: 'log',
  version: 1,
  at,
  planVersion: 0,
  payload: { event: 'x', payload: { at } },
})

export async function growth({ quick }) {
  const sizes = quick ? [10, 1_000, 10_000] : [10, 1_000, 100_000]
  const plans = quick ? [10, 100] : [10, 100, 1_000]
  const folder = mkdtempSync(join(tmpdir(), 'proviso-bench-'))
  const proviso = await loadProviso()
  try {
    return {
      events: await longRuns(proviso, folder, sizes),
      runs: await fullStores(proviso, folder, sizes),
      plans: await largePlans(proviso, plans),
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** NORMAL, so that the wait for the disk does not hide what is measured. */
const open = ({ openSqliteStore }, folder, name) =>
  openSqliteStore({ path: join(folder, `${name}.sqlite`), synchronous: 'NORMAL' })

async function longRuns(proviso, folder, sizes) {
  const runs = []
  for (const size of sizes) {
    const store = await open(proviso, folder, `events-${size}`)
    await store.create({ runId: 'r', tenant: 't', events: [event(1)], head })
    for (let seq = 1; seq < size; seq += 500) {
      const events = Array.from({ length: Math.min(500, size - seq) }, (_, i) => event(i))
      await store.append({ runId: 'r', expectedSeq: seq, events, head })
    }
    runs.push({ size, store, runId: 'r', seq: size })
  }
  return raceAppends(runs)
}

async function fullStores(proviso, folder, sizes) {
  const runs = []
  for (const size of sizes) {
    const store = await open(proviso, folder, `runs-${size}`)
    for (let made = 0; made < size; made += 250) {
      const some = Array.from({ length: Math.min(250, size - made) }, (_, i) => `r${made + i}`)
      await Promise.all(some.map((runId) => store.create({ runId, tenant: 't', events: [event(1)], head })))
    }
    runs.push({ size, store, runId: `r${Math.floor(size / 2)}`, seq: 1 })
  }
  return raceAppends(runs)
}

/** One event per append, the sizes in turns. */
async function raceAppends(runs) {
  const taken = new Map(runs.map(({ size }) => [size, []]))
  for (let turn = 0; turn < 40; turn++) {
    for (const run of runs) {
      const start = performance.now()
      for (let i = 0; i < 25; i++) {
        const result = await run.store.append({
          runId: run.runId,
          expectedSeq: run.seq,
          events: [event(i)],
          head,
        })
        run.seq = result.seq
      }
      if (turn >= 10) taken.get(run.size).push((performance.now() - start) / 25)
    }
  }
  for (const { store } of runs) await store.close()
  return [...taken].map(([size, some]) => ({ size, ms: median(some) }))
}

/** Plans of independent nodes, in memory: what deciding and folding cost. */
async function largePlans({ createApp, createMemoryStore, defineCapability }, sizes) {
  const app = await createApp({
    store: createMemoryStore(),
    capabilities: defineCapabilities(defineCapability, ['a']),
  })
  const drafts = sizes.map((size) => ({
    size,
    draft: {
      nodes: Array.from({ length: size }, (_, i) => ({ id: `n${i}`, capabilityId: 'a' })),
      output: { node: 'n0' },
    },
    taken: [],
  }))
  for (let turn = 0; turn < 12; turn++) {
    for (const { size, draft, taken } of drafts) {
      const start = performance.now()
      await app.run(envelope, { draft })
      if (turn >= 3) taken.push((performance.now() - start) / size)
    }
  }
  await app.close()
  return drafts.map(({ size, taken }) => ({ size, ms: median(taken) }))
}

export function showGrowth({ events, runs, plans }) {
  const rows = (label, found) =>
    found.map(({ size, ms: each }) => [
      `${label} ${size.toLocaleString('en')}`,
      ms(each),
      times(each, found[0].ms),
    ])
  return [
    table(
      ['one event appended', 'takes', 'ratio'],
      [...rows('events in the run:', events), ...rows('runs in the store:', runs)],
    ),
    table(['one node of a plan (in memory)', 'takes', 'ratio'], rows('nodes in the plan:', plans)),
  ].join('\n\n')
}
