/** What one node costs when every step is durable: the same ten nodes on every engine, one run at a time and many at once. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { nodeCount } from '../engines/dag.mjs'
import { openFloor } from '../engines/floor.mjs'
import { openProviso } from '../engines/proviso.mjs'
import { median } from '../lib/measure.mjs'
import { ms, table, times } from '../lib/table.mjs'

const floor = 'one commit of one row'

/** Peers are loaded one by one: one that is not installed or does not run is a row that says so. */
const engines = [
  ['proviso', openProviso],
  ['LangGraph 1.4.18', async (folder) => (await import('../engines/langgraph.mjs')).openLangGraph(folder)],
  ['Mastra 0.24.9', async (folder) => (await import('../engines/mastra.mjs')).openMastra(folder)],
  [floor, openFloor],
]

export async function nodes({ quick }) {
  const [turns, sequential, concurrent] = quick ? [5, 5, 50] : [15, 20, 100]
  // One folder for all: the same disk.
  const folder = mkdtempSync(join(tmpdir(), 'proviso-bench-'))
  const rows = []
  try {
    for (const [name, open] of engines) {
      try {
        const engine = await open(folder)
        // Compilers have done their work by then, everybody's alike.
        for (let i = 0; i < (quick ? 30 : 300); i++) await engine.run()
        for (let i = 0; i < (quick ? 1 : 3); i++)
          await Promise.all(Array.from({ length: concurrent }, engine.run))
        rows.push({ name, engine, settings: engine.settings, one: [], many: [] })
      } catch (error) {
        rows.push({ name, failed: String(error?.message ?? error).split('\n')[0] })
      }
    }
    const running = rows.filter(({ engine }) => engine)
    globalThis.gc?.()
    const atOnce = (run) => Promise.all(Array.from({ length: concurrent }, run))
    for (let turn = 0; turn < turns; turn++) {
      for (const { engine, one } of running)
        one.push(await timed(() => inTurn(engine.run, sequential), sequential))
      for (const { engine, many } of running) many.push(await timed(() => atOnce(engine.run), concurrent))
    }
    for (const { engine } of running) await engine.close()
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  return {
    concurrent,
    engines: rows.map(({ name, failed, settings, one, many }) =>
      failed ? { name, failed } : { name, settings, one: medians(one), many: medians(many) },
    ),
  }
}

async function inTurn(run, count) {
  for (let i = 0; i < count; i++) await run()
}

/** Time on the wall and of the processor, per run. The second is what others on the machine cannot take away. */
async function timed(work, runs) {
  const start = performance.now()
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return { ms: (performance.now() - start) / runs, cpuMs: (user + system) / 1000 / runs }
}

function medians(turns) {
  return { ms: median(turns.map(({ ms }) => ms)), cpuMs: median(turns.map(({ cpuMs }) => cpuMs)) }
}

export function showNodes({ concurrent, engines: found }) {
  const shown = (label, of) => {
    const [own] = found
    const rows = found.map((engine) => {
      if (engine.failed) return [engine.name, 'does not run', '', '', '', '']
      const { ms: wall, cpuMs } = of(engine)
      if (engine.name === floor) return [engine.name, '', '', '', '', ms(wall)]
      return [
        engine.name,
        ms(wall / nodeCount),
        times(wall, of(own).ms),
        ms(cpuMs / nodeCount),
        times(cpuMs, of(own).cpuMs),
        `${(1000 / wall).toFixed(0)} runs/s`,
      ]
    })
    return table([label, 'per node', 'ratio', 'processor', 'ratio', 'in all'], rows)
  }
  const settings = found.map(({ name, settings, failed }) => `- ${name}: ${failed ?? settings}`)
  return [
    shown('ten durable nodes, one run at a time', ({ one }) => one),
    shown(`${concurrent} runs at once`, ({ many }) => many),
    settings.join('\n'),
  ].join('\n\n')
}
