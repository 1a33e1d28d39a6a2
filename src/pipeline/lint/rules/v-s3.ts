/** V-S3: structured output for plain text. */

import type { Rule } from '../rule.ts'
import { findEntry, plainAt } from '../view/lint-view.ts'
import { findProcessing, outputKind } from '../view/output-kind.ts'

export const vS3: Rule<'V-S3'> = {
  id: 'V-S3',
  title: 'Structured output of a text',
  severity: 'warning',
  help: `The step asks for structured output, but yields a text. There is nothing to be structured: some providers refuse such a schema, others put quotes around the answer.

Remove \`structured_output\`, or give the agent an object schema.`,
  good: `version: "0.1"
agents:
  writer: { model: openai/gpt-4o-mini, system_prompt: Write., output_schema: { type: string } }
steps:
  - name: write
    agent: writer
    processing: { aop: full }
`,
  bad: `version: "0.1"
agents:
  writer: { model: openai/gpt-4o-mini, system_prompt: Write., output_schema: { type: string } }
steps:
  - name: write
    agent: writer
    processing: { structured_output: openai_json }
`,
  *check({ steps }) {
    for (const step of steps) {
      const said = findEntry(findProcessing(step.node)?.value, 'structured_output')
      const way = plainAt(findProcessing(step.node)?.value, 'structured_output')
      if (!said || way === 'off' || step.kind !== 'step' || outputKind(step) !== 'text') continue
      yield {
        range: said.value.alias ?? said.value.range,
        step,
        message: `"${step.label}" yields a text, which ${String(way)} cannot structure`,
        hint: 'Remove structured_output, or give the agent an object schema',
      }
    }
  },
}
