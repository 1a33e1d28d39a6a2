/** What one node costs when every step is durable: the same ten nodes on every engine, one run at a time and many at once. */
import { nodeCount } from '../engines/dag.mjs'
import { floor, raceEngines } from '../lib/race-engines.mjs'
import { ms, table, times } from '../lib/table.mjs'

const engines = [
  ['proviso', 'proviso'],
  ['proviso-sync', 'proviso, every commit synced'],
  ['langgraph', 'LangGraph 1.4.18'],
  ['langgraph-async', 'LangGraph 1.4.18, async'],
  ['mastra', 'Mastra 0.24.9'],
  ['floor', floor],
]

export async function nodes({ quick }) {
  const sizes = quick
    ? { turns: 5, sequential: 5, concurrent: 50, first: 30, rounds: 1 }
    : // Turns of some tenths of a second: what a process pays for getting the processor back does not count.
      { turns: 9, sequential: 100, concurrent: 100, batches: 5, first: 1_000, rounds: 10 }
  return { concurrent: sizes.concurrent, engines: await raceEngines(engines, sizes) }
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
