/** V-CTX1: a branch that reads what a parallel branch writes. */

import { splitReference } from '../../templates/template-marks.ts'
import type { Rule, RuleFinding } from '../rule.ts'
import { inBranches, keysWritten } from '../view/context-writes.ts'
import type { LintStep, LintView } from '../view/lint-view.ts'
import { getInitialContext } from '../view/step-schema.ts'

export const vCtx1: Rule<'V-CTX1'> = {
  id: 'V-CTX1',
  title: 'A branch that reads what a branch beside it writes',
  severity: 'warning',
  help: `The branches of a \`parallel\` or \`router\` step are kept apart: each sees the context as it was before the step, and what they put into it is there for the steps behind. A branch that reads a member which another branch writes gets the value from before. Where there is none, the pipeline is not run: then it is an error.

Read it behind the step, or put the two steps into one branch, one after the other.

The original project asks for the isolation of contexts to be programmed in each function, and has a rule for functions without it. Here branches and rounds are always kept apart; what is left to be said is who relies on the opposite.`,
  good: `version: "0.1"
agents:
  writer: { model: openai/gpt-4o-mini, system_prompt: Write., output_schema: { type: string } }
steps:
  - kind: parallel
    name: both
    branches:
      title: [{ name: name, agent: writer, sink_to: title }]
      text: [{ name: write, agent: writer, sink_to: text }]
  - name: join
    agent: writer
    input: "Put {{ context.title }} above {{ context.text }}"
`,
  bad: `version: "0.1"
context: { title: none yet }
agents:
  writer: { model: openai/gpt-4o-mini, system_prompt: Write., output_schema: { type: string } }
steps:
  - kind: parallel
    name: both
    branches:
      title: [{ name: name, agent: writer, sink_to: title }]
      text: [{ name: write, agent: writer, input: "Write a text under {{ context.title }}" }]
`,
  *check(view) {
    for (const step of view.steps)
      if (step.kind === 'parallel' || step.kind === 'router') yield* betweenBranches(view, step)
  },
}

function* betweenBranches(view: LintView, step: LintStep): Iterable<RuleFinding> {
  const writers = new Map<string, Map<LintStep['sequence'], LintStep>>()
  const inside = [...inBranches(step)]
  for (const { inner, branch } of inside) {
    for (const key of keysWritten(view, inner)) {
      const byBranch = writers.get(key) ?? new Map()
      writers.set(key, byBranch)
      if (!byBranch.has(branch)) byBranch.set(branch, inner)
    }
  }
  if (writers.size === 0) return
  for (const { inner, branch } of inside) {
    for (const { text, range } of inner.marks.flatMap(({ references }) => references)) {
      const [root, ...path] = splitReference(text)
      // V-C2 reports a path as a key; the conflict is checked all the same.
      const keys = root === 'context' ? path.map((_, index) => path.slice(0, index + 1).join('.')) : []
      const key = keys.find((each) => writers.has(each)) ?? ''
      const byBranch = writers.get(key)
      if (!byBranch || byBranch.has(branch)) continue
      const [other] = byBranch.values()
      const known = isThereBefore(view, step, key)
      yield {
        range,
        step: inner,
        ...(!known && { severity: 'error' as const }),
        message: `"${other?.label}" writes ${text} in a branch beside this one, which ${known ? 'sees the value from before' : 'does not see it'}`,
        hint: `Read it behind "${step.label}", or put both into one branch`,
      }
    }
  }
}

/** Does the file or an earlier step write the key, as far as is known? */
function isThereBefore(view: LintView, step: LintStep, key: string): boolean {
  if (Object.hasOwn(getInitialContext(view), key)) return true
  for (let at: LintStep | undefined = step; at; at = at.parent) {
    const before = at.sequence.slice(0, at.index)
    if (before.some((each) => keysWritten(view, each).includes(key) || each.inside.length > 0)) return true
  }
  return false
}
