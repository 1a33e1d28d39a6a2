/** The bench of the reader. Sections run in one process and compare inside one run; only ratios travel between machines. */
import { runBench } from './lib/bench.mjs'
import { broken, showBroken } from './sections/broken.mjs'
import { clean, showClean } from './sections/clean.mjs'
import { first, showFirst } from './sections/first.mjs'
import { linearity, showLinearity } from './sections/linearity.mjs'
import { shapes, showShapes } from './sections/shapes.mjs'
import { showStream, stream } from './sections/stream.mjs'
import { showSuccess, success } from './sections/success.mjs'

await runBench('output', [
  ['clean', clean, showClean],
  ['broken', broken, showBroken],
  ['shapes', shapes, showShapes],
  ['first', first, showFirst],
  ['linearity', linearity, showLinearity],
  ['stream', stream, showStream],
  ['success', success, showSuccess],
])
