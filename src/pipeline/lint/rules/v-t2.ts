/** V-T2: `this` in a template. */

import { splitReference } from '../../templates/template-marks.ts'
import type { Rule } from '../rule.ts'

export const vT2: Rule<'V-T2'> = {
  id: 'V-T2',
  title: '"this" in a template',
  severity: 'error',
  help: `Templates have no \`this\`. Inside a map the item is \`item\`, the output of the step before is \`previous_step\`, and what the run was given is \`input\`.`,
  good: `version: "0.1"
agents:
  writer: { model: openai/gpt-4o-mini, system_prompt: Write., output_schema: { type: string } }
steps:
  - kind: map
    name: all
    map:
      iterable_input: input
      max_items: 5
      body:
        - name: write
          agent: writer
          input: "Write about {{ item }}"
`,
  bad: `version: "0.1"
agents:
  writer: { model: openai/gpt-4o-mini, system_prompt: Write., output_schema: { type: string } }
steps:
  - kind: map
    name: all
    map:
      iterable_input: input
      max_items: 5
      body:
        - name: write
          agent: writer
          input: "Write about {{ this }}"
`,
  *check({ steps }) {
    for (const step of steps) {
      for (const { text, range } of step.marks.flatMap(({ references }) => references)) {
        if (splitReference(text)[0] !== 'this') continue
        yield {
          range,
          step,
          message: 'templates have no "this"',
          hint: 'Write item (inside a map), previous_step or input',
        }
      }
    }
  },
}
