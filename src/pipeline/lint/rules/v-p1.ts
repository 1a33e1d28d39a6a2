/** V-P1: parallel branches that merge the same member into the context. */

import type { Rule } from '../rule.ts'
import { conflictsIn, findWriteRange } from '../view/context-writes.ts'

export const vP1: Rule<'V-P1'> = {
  id: 'V-P1',
  title: 'Parallel branches that merge the same member into the context',
  severity: 'warning',
  help: `Two branches of a \`parallel\` step put a member of the same name into the context, at least one of them by \`updates_context\`. Only one of the two is left, and which one is not what the branches say.

Give the members different names: \`sink_to: KEY\`, or \`wrap_dict\` with another \`key\`. Where both say \`sink_to\`, V-P2 speaks up.`,
  good: `version: "0.1"
agents:
  namer:
    model: openai/gpt-4o-mini
    system_prompt: Find a title.
    output_schema: { type: object, properties: { title: { type: string } } }
    processing: { structured_output: auto }
steps:
  - kind: parallel
    name: both
    branches:
      short: [{ name: name_short, agent: namer, updates_context: true }]
      long: [{ name: name_long, agent: namer, sink_to: long }]
`,
  bad: `version: "0.1"
agents:
  namer:
    model: openai/gpt-4o-mini
    system_prompt: Find a title.
    output_schema: { type: object, properties: { title: { type: string } } }
    processing: { structured_output: auto }
steps:
  - kind: parallel
    name: both
    branches:
      short: [{ name: name_short, agent: namer, updates_context: true }]
      long: [{ name: name_long, agent: namer, updates_context: true }]
`,
  *check(view) {
    for (const { key, step, other, explicit } of conflictsIn(view)) {
      if (explicit) continue
      yield {
        range: findWriteRange(step, 'updates_context'),
        step,
        message: `"${step.label}" writes "${key}" into the context, and so does "${other.label}" in another branch`,
        hint: 'Give one of them another name, with sink_to or wrap_dict',
      }
    }
  },
}
