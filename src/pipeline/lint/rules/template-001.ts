/** TEMPLATE-001: statements in templates. */

import type { Rule } from '../rule.ts'
import { findEntry } from '../view/lint-view.ts'

export const template001: Rule<'TEMPLATE-001'> = {
  id: 'TEMPLATE-001',
  title: 'A statement in a template',
  severity: 'error',
  help: `Templates have values, \`{{ path | filter }}\`, and no statements: \`{% if %}\` and \`{% for %}\` are not read. Choices are steps of the kind \`conditional\` or \`router\`, repetitions of the kind \`map\` or \`loop\`.`,
  good: `version: "0.1"
agents:
  writer: { model: openai/gpt-4o-mini, system_prompt: Write., output_schema: { type: string } }
steps:
  - name: write
    agent: writer
    input: "Write about {{ input | default('tea') }}"
`,
  bad: `version: "0.1"
agents:
  writer: { model: openai/gpt-4o-mini, system_prompt: Write., output_schema: { type: string } }
steps:
  - name: write
    agent: writer
    input: "Write{% if input %} about {{ input }}{% endif %}"
`,
  *check({ steps, document: { source } }) {
    for (const step of steps) {
      const input = findEntry(step.node, 'input')
      if (!input || input.merged) continue
      const at = source.text.slice(...input.value.range).search(/\{%/)
      if (at < 0) continue
      const start = input.value.range[0] + at
      yield {
        range: [start, start + 2],
        step,
        message: '{% %} is not supported',
        hint: 'Only {{ }} is; use a conditional or a map step for choices and repetition',
      }
    }
  },
}
