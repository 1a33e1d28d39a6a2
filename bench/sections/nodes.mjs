/** What one node costs when every step is durable: the same ten nodes on every engine, one run at a time and many at once. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { nodeCount } from '../engines/dag.mjs'
import { median } from '../lib/measure.mjs'
import { ms, table, times } from '../lib/table.mjs'

const program = fileURLToPath(new URL('../engines/child.mjs', import.meta.url))

/** No engine, but what the disk itself takes. */
const floor = 'one commit of one row'

/** A peer that is not installed or does not run is a row that says so. */
const engines = [
  ['proviso', 'proviso'],
  ['langgraph', 'LangGraph 1.4.18'],
  ['mastra', 'Mastra 0.24.9'],
  ['floor', floor],
]

export async function nodes({ quick }) {
  const [turns, sequential, concurrent] = quick ? [5, 5, 50] : [15, 20, 100]
  // One folder for all: the same disk.
  const folder = mkdtempSync(join(tmpdir(), 'proviso-bench-'))
  const rows = []
  try {
    for (const [name, label] of engines) {
      const child = startChild()
      const { failed, settings } = await child.request('open', { name, folder })
      rows.push({ label, child, failed, settings, one: [], many: [] })
      if (failed) continue
      // Compilers have done their work by then, everybody's alike.
      await child.request('one', { runs: quick ? 30 : 300 })
      for (let i = 0; i < (quick ? 1 : 3); i++) await child.request('many', { runs: concurrent })
    }
    const running = rows.filter(({ failed }) => !failed)
    for (let turn = 0; turn < turns; turn++) {
      for (const { child, one } of running) one.push(await child.request('one', { runs: sequential }))
      for (const { child, many } of running) many.push(await child.request('many', { runs: concurrent }))
    }
  } finally {
    for (const { child } of rows) await child.close()
    rmSync(folder, { recursive: true, force: true })
  }
  return {
    concurrent,
    engines: rows.map(({ label: name, failed, settings, one, many }) =>
      failed ? { name, failed } : { name, settings, one: medians(one), many: medians(many) },
    ),
  }
}

/** An engine in its own process, which works only while a request is open: they take turns. */
function startChild() {
  const child = fork(program, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  const gone = once(child, 'exit')
  return {
    async request(what, given) {
      child.send({ what, ...given })
      const [answer] = await Promise.race([
        once(child, 'message'),
        gone.then(([code]) => Promise.reject(new Error(`An engine's process ended with ${code}`))),
      ])
      if (answer.failed && what !== 'open') throw new Error(answer.failed)
      return answer
    },
    async close() {
      if (child.connected) child.send({ what: 'close' })
      await gone
    },
  }
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
