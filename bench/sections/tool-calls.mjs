/** What one tool call of an agent costs when every turn and call is durable: the same loop on every engine. */
import { callCount } from '../engines/agent-script.mjs'
import { floor, raceEngines } from '../lib/race-engines.mjs'
import { ms, table, times } from '../lib/table.mjs'

const engines = [
  ['proviso-agent', 'proviso'],
  ['langgraph-agent', 'LangGraph 1.4.18'],
  ['floor', floor],
]

export async function toolCalls({ quick }) {
  const sizes = quick
    ? { turns: 3, sequential: 3, concurrent: 20, first: 10, rounds: 1 }
    : { turns: 11, sequential: 5, concurrent: 50, first: 40, rounds: 1 }
  return { calls: callCount, concurrent: sizes.concurrent, engines: await raceEngines(engines, sizes) }
}

export function showToolCalls({ concurrent, calls, engines: found }) {
  const shown = (label, of) => {
    const [own] = found
    const rows = found.map((engine) => {
      if (engine.failed) return [engine.name, 'does not run', '', '', '']
      const { ms: wall, cpuMs } = of(engine)
      if (engine.name === floor) return [engine.name, ms(wall), '', '', '']
      return [
        engine.name,
        ms(wall / calls),
        times(wall, of(own).ms),
        ms(cpuMs / calls),
        times(cpuMs, of(own).cpuMs),
      ]
    })
    return table([label, 'per tool call', 'ratio', 'processor', 'ratio'], rows)
  }
  const settings = found.map(({ name, settings, failed }) => `- ${name}: ${failed ?? settings}`)
  return [
    shown(`an agent with ${calls} calls, one run at a time`, ({ one }) => one),
    shown(`${concurrent} runs at once`, ({ many }) => many),
    settings.join('\n'),
  ].join('\n\n')
}
