/**
 * LangGraph.js with its own SqliteSaver: a checkpoint after every super-step, which the next one waits for (`sync`) or is
 * written beside it (`async`); the end waits for all.
 */
import { join } from 'node:path'
import { Annotation, END, START, StateGraph } from '@langchain/langgraph'
import { SqliteSaver } from '@langchain/langgraph-checkpoint-sqlite'
import { edges, nodeIds, work } from './dag.mjs'

export async function openLangGraph(folder, durability = 'sync') {
  const saver = SqliteSaver.fromConnString(join(folder, `langgraph-${durability}.sqlite`))
  const State = Annotation.Root({
    texts: Annotation({ reducer: (all, some) => [...all, ...some], default: () => [] }),
  })
  let graph = new StateGraph(State)
  for (const id of nodeIds) graph = graph.addNode(id, () => ({ texts: [work(id).text] }))
  graph.addEdge(START, 'a')
  for (const [from, to] of edges.filter(([, to]) => to !== 'j')) graph.addEdge(from, to)
  // A list of sources waits for all of them.
  graph.addEdge(
    edges.filter(([, to]) => to === 'j').map(([from]) => from),
    'j',
  )
  graph.addEdge('z', END)
  const compiled = graph.compile({ checkpointer: saver })
  let threads = 0
  const run = async () => {
    threads += 1
    const config = { configurable: { thread_id: `t${threads}` }, durability }
    const { texts } = await compiled.invoke({ texts: [] }, config)
    if (texts.length !== nodeIds.length) throw new Error(`${texts.length} nodes ran`)
  }
  // Its driver's own default for WAL is NORMAL; the first run makes the tables and sets WAL.
  await run()
  saver.db.pragma('synchronous = FULL')
  return {
    name: 'LangGraph 1.4.18',
    settings: `SqliteSaver 1.0.4 (better-sqlite3), ${saver.db.pragma('journal_mode', { simple: true })}, synchronous=${saver.db.pragma('synchronous', { simple: true })} (2 is FULL), durability ${durability}`,
    run,
    close: async () => saver.db.close(),
  }
}
