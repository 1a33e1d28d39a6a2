/** One engine in a process of its own, controlled by commands: opens, runs some plans one by one or at once, and closes. */
import { openFloor } from './floor.mjs'
import { openProviso } from './proviso.mjs'

/** Peers are loaded only where they run: what one changes in its process must not affect the others. */
const engines = {
  proviso: openProviso,
  'proviso-sync': (folder) => openProviso(folder, false),
  langgraph: async (folder) => (await import('./langgraph.mjs')).openLangGraph(folder),
  'langgraph-async': async (folder) => (await import('./langgraph.mjs')).openLangGraph(folder, 'async'),
  mastra: async (folder) => (await import('./mastra.mjs')).openMastra(folder),
  'proviso-agent': async (folder) => (await import('./proviso-agent.mjs')).openProvisoAgent(folder),
  'langgraph-agent': async (folder) => (await import('./langgraph-agent.mjs')).openLangGraphAgent(folder),
  floor: openFloor,
}

let engine

const work = {
  async open({ name, folder }) {
    engine = await engines[name](folder)
    return { settings: engine.settings }
  },
  one: ({ runs }) =>
    timed(runs, async () => {
      for (let i = 0; i < runs; i++) await engine.run()
    }),
  many: ({ runs, batches = 1 }) =>
    timed(runs * batches, async () => {
      for (let i = 0; i < batches; i++) await Promise.all(Array.from({ length: runs }, engine.run))
    }),
  async close() {
    await engine?.close()
    process.disconnect()
  },
}

/** Time on the wall and of the processor, per run. The second is what others on the machine cannot take away. */
async function timed(runs, run) {
  const start = performance.now()
  const before = process.cpuUsage()
  await run()
  const { user, system } = process.cpuUsage(before)
  return { ms: (performance.now() - start) / runs, cpuMs: (user + system) / 1000 / runs }
}

process.on('message', async ({ what, ...given }) => {
  const answer = await work[what](given).catch((error) => ({
    failed: String(error?.message ?? error).split('\n')[0],
  }))
  if (process.connected) process.send(answer ?? {})
})
