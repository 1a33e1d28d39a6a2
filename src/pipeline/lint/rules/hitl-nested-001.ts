/** HITL-NESTED-001: human-in-the-loop requests inside loops and maps that can exceed the limit of the run. */
import { iterationDefaults } from '../../../domain/plan.ts'
import type { Rule } from '../rule.ts'
import { findEntry, type LintStep, type LintView, plainAt } from '../view/lint-view.ts'
import { around } from '../view/step-scope.ts'

export const hitlNested001: Rule<'HITL-NESTED-001'> = {
  id: 'HITL-NESTED-001',
  title: 'More questions than the run may ask',
  severity: 'warning',
  help: `A \`hitl\` step, a step under a contract of Reasoning-Augmented Orchestration (RAO) (\`contract: true\`, whose answers a person may have to review) and a step with \`on_fail: ask\` ask once; inside a loop once in every round, inside a map once for every item. Together they can ask more often than \`limits.max_asks\` allows: the run then fails in the middle of its work, after people have answered.

Raise \`max_asks\`, lower \`max_loops\` or \`max_items\`, or ask once, outside. Without \`max_asks\` a pipeline may ask as often as its steps can, and nothing is said.

The original project never asks questions in a branch inside a loop, and warns of it with this rule. Here such questions are steps like others, and are asked.`,
  good: `version: "0.1"
limits: { max_asks: 3 }
steps:
  - kind: map
    name: each
    map:
      iterable_input: "{{ input }}"
      max_items: 3
      body: [{ kind: hitl, name: ask, message: "Is {{ item }} right?" }]
`,
  bad: `version: "0.1"
limits: { max_asks: 3 }
steps:
  - kind: map
    name: each
    map:
      iterable_input: "{{ input }}"
      max_items: 10
      body: [{ kind: hitl, name: ask, message: "Is {{ item }} right?" }]
`,
  *check(view: LintView) {
    const most = plainAt(findEntry(view.document.root, 'limits')?.value, 'max_asks')
    if (typeof most !== 'number') return
    let asked = 0
    for (const step of view.steps) {
      const own = countAsks(step)
      asked += own * countTimes(step)
      if (own === 0 || asked <= most) continue
      yield {
        range: step.node.alias ?? findEntry(step.node, 'name')?.value.range ?? step.node.range,
        step,
        message: `the questions up to "${step.label}" can be ${asked}, and max_asks is ${most}`,
        hint: 'Raise limits.max_asks, lower max_loops or max_items, or ask once, outside',
      }
    }
  },
}

/**
 * Number of asks of one execution: the question, reviews under a RAO contract (of the step and of its
 * fallback), and one about a failure.
 */
function countAsks(step: LintStep): number {
  if (step.kind === 'hitl') return 1
  const contract = plainAt(step.node, 'contract')
  const reviews = findEntry(step.node, 'fallback') === undefined ? 1 : 2
  const isReviewed = contract === true || contract === 'true'
  return (isReviewed ? reviews : 0) + (plainAt(step.node, 'on_fail') === 'ask' ? 1 : 0)
}

/** Maximum number of executions of a step. */
function countTimes(step: LintStep): number {
  let times = 1
  for (const outer of around(step)) {
    const bound =
      outer.kind === 'loop'
        ? plainAt(findEntry(outer.node, 'loop')?.value, 'max_loops')
        : outer.kind === 'map'
          ? (plainAt(findEntry(outer.node, 'map')?.value, 'max_items') ?? iterationDefaults.maxItems)
          : 1
    times *= typeof bound === 'number' ? bound : 1
  }
  return times
}
