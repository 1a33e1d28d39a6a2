/** The bench of the console in Chromium: first load, large plans, long lists and long runs against their budgets. */
import { runBench } from './lib/bench.mjs'
import { showBudgets } from './lib/console.mjs'
import { measureList, measureLongRun, measureMemory } from './sections/console-lists.mjs'
import { measureLoad } from './sections/console-load.mjs'
import { measureFrames, measurePlan } from './sections/console-plan.mjs'

await runBench('console', [
  ['load', measureLoad, showBudgets],
  ['plan', measurePlan, showBudgets],
  ['frames', measureFrames, showBudgets],
  ['list', measureList, showBudgets],
  ['long', measureLongRun, showBudgets],
  ['memory', measureMemory, showBudgets],
])
