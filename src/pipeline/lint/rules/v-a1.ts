/** V-A1: a step without an agent. */

import type { Rule } from '../rule.ts'
import { findEntry } from '../view/lint-view.ts'

export const vA1: Rule<'V-A1'> = {
  id: 'V-A1',
  title: 'A step without an agent',
  severity: 'error',
  help: `A step of the kind \`step\` says who does it: \`agent: NAME\`, or \`uses:\` with an agent, an import, a built-in or a capability of your own. Without either there is nothing to run.`,
  good: `version: "0.1"
agents:
  writer: { model: openai/gpt-4o-mini, system_prompt: Write., output_schema: { type: string } }
steps:
  - name: write
    agent: writer
`,
  bad: `version: "0.1"
agents:
  writer: { model: openai/gpt-4o-mini, system_prompt: Write., output_schema: { type: string } }
steps:
  - name: write
    input: "Write about tea"
`,
  *check({ steps }) {
    for (const step of steps) {
      if (step.kind !== 'step' || findEntry(step.node, 'agent') || findEntry(step.node, 'uses')) continue
      yield {
        range: step.node.alias ?? step.node.range,
        step,
        message: `no agent or capability for "${step.label}"`,
        hint: 'Say agent: NAME, or uses: agents.NAME, imports.NAME, a built-in, or the id of a capability',
      }
    }
  },
}
