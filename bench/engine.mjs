/** The bench of the engine on real files: what a durable node costs, what waits cost, and whether the cost grows. */
import { runBench } from './lib/bench.mjs'
import { growth, showGrowth } from './sections/growth.mjs'
import { nodes, showNodes } from './sections/nodes.mjs'
import { paused, showPaused } from './sections/paused.mjs'

await runBench('engine', [
  ['nodes', nodes, showNodes],
  ['paused', paused, showPaused],
  ['growth', growth, showGrowth],
])
