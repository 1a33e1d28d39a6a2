/** V-A3: a nested step that shadows an earlier step of the same name, where a template refers to it. */

import { splitReference } from '../../templates/template-marks.ts'
import type { Rule } from '../rule.ts'
import { findEntry, type LintStep, type LintView, perView } from '../view/lint-view.ts'
import { around, stepNamed, stepsByLabel } from '../view/step-scope.ts'

export const vA3: Rule<'V-A3'> = {
  id: 'V-A3',
  title: 'A step that hides another of the same name',
  severity: 'warning',
  help: `A step inside another one has the name of a step that comes before, written again or through an alias. A template behind it that says \`steps.NAME\` gets the inner one, one before it the outer one: the same words mean two things.

Give the inner step a name of its own. Two steps of one name in the same list are refused when the file is read (\`pipeline/duplicate-name\`); in branches that do not see each other, names may repeat.

In the original project the rule is about one step object that is used twice.`,
  good: `version: "0.1"
agents:
  writer: { model: openai/gpt-4o-mini, system_prompt: Write., output_schema: { type: string } }
steps:
  - name: draft
    agent: writer
  - kind: loop
    name: polish
    loop:
      max_loops: 3
      on_max_loops: accept
      body:
        - { name: better, agent: writer, input: "Polish {{ previous_step }}, drafted as {{ steps.draft.output }}" }
        - { name: shorter, agent: writer, input: "Shorten {{ steps.better.output }}" }
`,
  bad: `version: "0.1"
agents:
  writer: { model: openai/gpt-4o-mini, system_prompt: Write., output_schema: { type: string } }
steps:
  - name: draft
    agent: writer
  - kind: loop
    name: polish
    loop:
      max_loops: 3
      on_max_loops: accept
      body:
        - { name: draft, agent: writer, input: "Polish {{ previous_step }}" }
        - { name: shorter, agent: writer, input: "Shorten {{ steps.draft.output }}" }
`,
  *check(view) {
    for (const step of view.steps) {
      const hidden = step.name === undefined ? undefined : hiddenBy(view, step)
      if (!hidden || !meant(view).has(step)) continue
      yield {
        range: step.node.alias ?? findEntry(step.node, 'name')?.value.range ?? step.node.range,
        step,
        message: `steps.${step.label} is this step from here on, and no longer the one before "${hidden.around.label}"`,
        hint: 'Give this step a name of its own',
      }
    }
  },
}

/** Finds an enclosing step whose sequence has an earlier step of the same name. */
function hiddenBy(view: LintView, step: LintStep): { around: LintStep } | undefined {
  const same = stepsByLabel(view).get(step.label) ?? []
  if (same.length < 2) return undefined
  for (const outer of around(step)) {
    const { sequence, index } = outer
    if (same.some((each) => each.sequence === sequence && each.index < index)) return { around: outer }
  }
  return undefined
}

/** The steps that templates refer to. */
const meant = perView((view) => {
  const found = new Set<LintStep>()
  for (const step of view.steps) {
    for (const { text } of step.marks.flatMap(({ references }) => references)) {
      const [root, name] = splitReference(text)
      if (root !== 'steps' || name === undefined) continue
      const named = stepNamed(view, step, name)
      if (named.kind === 'seen') found.add(named.step)
    }
  }
  return found
})
