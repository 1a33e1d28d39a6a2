/**
 * One process of the scale bench, controlled by commands: a worker or the API of Proviso on PostgreSQL (runs are claimed by
 * lease, or delivered by Restate), or LangGraph.js with its Postgres checkpointer, which has no queue: each process gets its
 * part of the runs.
 */
import { edges, nodeIds, work } from './dag.mjs'
import { defineCapabilities, draft, envelope } from './proviso.mjs'

/** Each opens one process: `run` makes a run from start to end and returns when it was accepted, in milliseconds. */
const roles = {
  worker: (url, options) => openApp(url, { claim: 'all', ...options }),
  api: async (url, options) => {
    const { app, close } = await openApp(url, { claim: 'none', ...options })
    return {
      close,
      async run() {
        const began = performance.now()
        const handle = await app.start(envelope, { draft })
        const acceptMs = performance.now() - began
        const { status } = await handle.result()
        if (status !== 'completed') throw new Error(`A run is ${status}`)
        return acceptMs
      },
      /** Starts runs that wait for a person; resolves when they do. */
      async pause(count) {
        const waits = { ...envelope, policies: { requiresHitlApproval: true } }
        const one = { nodes: [{ id: 'a', capabilityId: 'a' }], output: { node: 'a' } }
        const handles = await inLanes(count, 50, async () => {
          const handle = await app.start(waits, { draft: one })
          const { status, asks } = await handle.result()
          if (status !== 'waiting') throw new Error(`A run is ${status}`)
          return { handle, ask: asks[0] }
        })
        paused.push(...handles)
      },
      /** Replies, a few at a time; the time from each reply to the end of its run. */
      resume: (count) =>
        inLanes(count, 5, async () => {
          const { handle, ask } = paused.pop()
          const began = performance.now()
          await ask.approve({ by: 'bench' })
          const { status } = await handle.result()
          if (status !== 'completed') throw new Error(`A run is ${status}`)
          return performance.now() - began
        }),
    }
  },
  langgraph: openLangGraph,
}
const paused = []

async function openApp(url, { programs, queue, claim }) {
  const [{ createApp }, { defineCapability }] = await Promise.all(
    [programs.app, programs.capability].map((path) => import(path)),
  )
  const capabilities = defineCapabilities(defineCapability, nodeIds)
  const app = await createApp({
    env: {},
    store: url,
    capabilities,
    pollMs: 200,
    claim,
    ...(queue && { queue }),
  })
  return { app, close: () => app.close() }
}

async function openLangGraph(url) {
  const { Annotation, END, START, StateGraph } = await import('@langchain/langgraph')
  const { PostgresSaver } = await import('@langchain/langgraph-checkpoint-postgres')
  const saver = PostgresSaver.fromConnString(url)
  await saver.setup()
  const State = Annotation.Root({
    texts: Annotation({ reducer: (all, some) => [...all, ...some], default: () => [] }),
  })
  let graph = new StateGraph(State)
  for (const id of nodeIds) graph = graph.addNode(id, () => ({ texts: [work(id).text] }))
  graph.addEdge(START, 'a')
  for (const [from, to] of edges.filter(([, to]) => to !== 'j')) graph.addEdge(from, to)
  graph.addEdge(
    edges.filter(([, to]) => to === 'j').map(([from]) => from),
    'j',
  )
  graph.addEdge('z', END)
  const compiled = graph.compile({ checkpointer: saver })
  let threads = 0
  return {
    async run() {
      threads += 1
      const config = { configurable: { thread_id: `t${process.pid}-${threads}` }, durability: 'sync' }
      const { texts } = await compiled.invoke({ texts: [] }, config)
      if (texts.length !== nodeIds.length) throw new Error(`${texts.length} nodes ran`)
    },
    close: () => saver.end(),
  }
}

/** Does something so often, in so many lanes; returns all results. */
async function inLanes(count, lanes, make) {
  const results = []
  let left = count
  const lane = async () => {
    while (left-- > 0) results.push(await make())
  }
  await Promise.all(Array.from({ length: Math.min(lanes, count) }, lane))
  return results
}

let opened

const commands = {
  /** `programs` are the compiled sources, which processes share. */
  async open({ role, url, programs, queue }) {
    opened = await roles[role](url, { programs, queue })
  },
  async run({ count, lanes }) {
    const began = performance.now()
    const accepts = await inLanes(count, lanes, opened.run)
    return { ms: performance.now() - began, accepts }
  },
  pause: ({ count }) => opened.pause(count),
  resume: async ({ count }) => ({ times: await opened.resume(count) }),
  async usage() {
    for (let nth = 0; nth < 5; nth++) globalThis.gc()
    const { user, system } = process.cpuUsage()
    return { cpuMs: (user + system) / 1000, rss: process.memoryUsage().rss }
  },
  async close() {
    await opened?.close()
    process.disconnect()
  },
}

process.on('message', async ({ what, ...given }) => {
  const answer = await commands[what](given).catch((error) => ({ failed: String(error?.stack ?? error) }))
  if (process.connected) process.send(answer ?? {})
})
