/** V-P2: parallel branches that write their outputs to the same key. */

import type { Rule } from '../rule.ts'
import { conflictsIn, findWriteRange } from '../view/context-writes.ts'

export const vP2: Rule<'V-P2'> = {
  id: 'V-P2',
  title: 'Parallel branches with the same sink_to',
  severity: 'warning',
  help: `Two branches of a \`parallel\` step put their outputs under the same key of the context, by \`sink_to\`. Only one of the two is left.

Give each branch a key of its own. The output of the \`parallel\` step has both anyway, under the names of the branches.

In the original project the rule is about imports in branches that map their outputs to one key; \`sink_to\` is that map here, for all steps.`,
  good: `version: "0.1"
agents:
  writer: { model: openai/gpt-4o-mini, system_prompt: Write., output_schema: { type: string } }
steps:
  - kind: parallel
    name: both
    branches:
      short: [{ name: write_short, agent: writer, sink_to: short }]
      long: [{ name: write_long, agent: writer, sink_to: long }]
`,
  bad: `version: "0.1"
agents:
  writer: { model: openai/gpt-4o-mini, system_prompt: Write., output_schema: { type: string } }
steps:
  - kind: parallel
    name: both
    branches:
      short: [{ name: write_short, agent: writer, sink_to: text }]
      long: [{ name: write_long, agent: writer, sink_to: text }]
`,
  *check(view) {
    for (const { key, step, other, explicit } of conflictsIn(view)) {
      if (!explicit) continue
      yield {
        range: findWriteRange(step, 'sink_to'),
        step,
        message: `"${step.label}" puts its output under "${key}", and so does "${other.label}" in another branch`,
        hint: 'Give each branch a key of its own',
      }
    }
  },
}
