/** The bench of health figures on a real file: how long a report over a million spans takes. */
import { runBench } from './lib/bench.mjs'
import { report, showReport } from './sections/health-report.mjs'

await runBench('health', [['report', report, showReport]])
