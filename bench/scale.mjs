/** The bench of several processes on one PostgreSQL: throughput by workers beside LangGraph, and runs that wait. */
import { runBench } from './lib/bench.mjs'
import { scaleAsks, showScaleAsks } from './sections/scale-asks.mjs'
import { scaleWorkers, showScaleWorkers } from './sections/scale-workers.mjs'

await runBench('scale', [
  ['workers', scaleWorkers, showScaleWorkers],
  ['asks', scaleAsks, showScaleAsks],
])
