/** V-L1: a loop that ends only at its bound. */

import type { Rule } from '../rule.ts'
import { findEntry } from '../view/lint-view.ts'

export const vL1: Rule<'V-L1'> = {
  id: 'V-L1',
  title: 'A loop without an exit condition',
  severity: 'warning',
  help: `The loop has no \`exit_condition\`, so it always goes round \`max_loops\` times, whatever its rounds yield. \`on_max_loops: accept\` says that this is meant.`,
  good: `version: "0.1"
agents:
  writer: { model: openai/gpt-4o-mini, system_prompt: Write., output_schema: { type: string } }
steps:
  - kind: loop
    name: polish
    loop:
      max_loops: 3
      exit_condition: { "==": [{ var: previous_step }, "good"] }
      body:
        - name: write
          agent: writer
`,
  bad: `version: "0.1"
agents:
  writer: { model: openai/gpt-4o-mini, system_prompt: Write., output_schema: { type: string } }
steps:
  - kind: loop
    name: polish
    loop:
      max_loops: 3
      body:
        - name: write
          agent: writer
`,
  *check({ steps }) {
    for (const step of steps) {
      const loop = findEntry(step.node, 'loop')
      if (step.kind !== 'loop' || loop?.value.kind !== 'map') continue
      if (findEntry(loop.value, 'exit_condition') || findEntry(loop.value, 'on_max_loops')) continue
      yield {
        range: loop.merged ? (step.node.alias ?? step.node.range) : loop.keyRange,
        step,
        message: `nothing ends the loop "${step.label}" before its bound`,
        hint: 'Add an exit_condition, or on_max_loops: accept',
      }
    }
  },
}
