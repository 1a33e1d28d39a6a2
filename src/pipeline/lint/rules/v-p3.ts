/** V-P3: parallel branches that expect different kinds of the same value. */

import { splitReference } from '../../templates/template-marks.ts'
import { asTemplate, expressionsIn } from '../../templates/templates.ts'
import type { Rule } from '../rule.ts'
import { findEntry, type LintStep, textAt } from '../view/lint-view.ts'
import { findPreviousSchema } from '../view/step-schema.ts'

type Kind = 'a list' | 'an object'

export const vP3: Rule<'V-P3'> = {
  id: 'V-P3',
  title: 'Parallel branches that expect different inputs',
  severity: 'warning',
  help: `All branches of a \`parallel\` or \`router\` step are given the same value, that of the step before. One of them goes over it as a list, another one looks for members by name: it cannot be both, so that one of the branches fails.

Name the part that each branch is about, or give the branch an \`input\` of its own. Nothing is said where the schema of the value is known: then V-A2 and V-T5 say which branch is wrong.

The original project compares the types of the first inputs; here it is what the first steps do with \`previous_step\`.`,
  good: `version: "0.1"
agents:
  writer: { model: openai/gpt-4o-mini, system_prompt: Write., output_schema: { type: string } }
steps:
  - name: fetch
    uses: shop.fetch
  - kind: parallel
    name: both
    branches:
      all:
        - kind: map
          name: each
          map:
            iterable_input: "{{ previous_step.items }}"
            max_items: 5
            body: [{ name: write, agent: writer, input: "About {{ item }}" }]
      one: [{ name: title, agent: writer, input: "A title for {{ previous_step.name }}" }]
`,
  bad: `version: "0.1"
agents:
  writer: { model: openai/gpt-4o-mini, system_prompt: Write., output_schema: { type: string } }
steps:
  - name: fetch
    uses: shop.fetch
  - kind: parallel
    name: both
    branches:
      all:
        - kind: map
          name: each
          map:
            iterable_input: "{{ previous_step }}"
            max_items: 5
            body: [{ name: write, agent: writer, input: "About {{ item }}" }]
      one: [{ name: title, agent: writer, input: "A title for {{ previous_step.name }}" }]
`,
  *check(view) {
    for (const step of view.steps) {
      if (step.kind !== 'parallel' && step.kind !== 'router') continue
      const firsts = step.inside.filter(({ index }) => index === 0)
      const [example] = firsts
      if (!example || findPreviousSchema(view, example) !== undefined) continue
      let before: { readonly step: LintStep; readonly kind: Kind } | undefined
      for (const first of firsts) {
        const kind = expected(first)
        if (kind === undefined) continue
        if (before === undefined) before = { step: first, kind }
        else if (before.kind !== kind)
          yield {
            range: first.node.alias ?? findEntry(first.node, 'name')?.value.range ?? first.node.range,
            step: first,
            message: `"${first.label}" takes what comes before for ${kind}, and "${before.step.label}" for ${before.kind}`,
            hint: 'Name the part that each branch is about, or give the branches inputs of their own',
          }
      }
    }
  },
}

/** The kind of value that the first step of a branch expects as `previous_step`. */
function expected(step: LintStep): Kind | undefined {
  const over = textAt(findEntry(step.node, 'map')?.value, 'iterable_input')
  const paths = over === undefined ? [] : expressionsIn(asTemplate(over)).map(({ path = [] }) => path)
  if (paths.some((path) => path.length === 1 && path[0] === 'previous_step')) return 'a list'
  const members = [
    ...paths,
    ...step.marks.flatMap(({ references }) => references.map(({ text }) => splitReference(text))),
  ].flatMap(([root, member]) => (root === 'previous_step' && member !== undefined ? [member] : []))
  if (members.length === 0 || members.includes('length')) return undefined
  return members.every((member) => /^\d+$/.test(member)) ? 'a list' : 'an object'
}
