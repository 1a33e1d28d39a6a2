/** V-A8: a schema with an object or a list, without structured output to enforce it. */

import { plainValue } from '../../yaml/yaml-node.ts'
import type { Rule } from '../rule.ts'
import { entryOf, plainAt } from '../view/lint-view.ts'
import { callsNoModel, kindOf, outputKind, processingOf, schemaOf } from '../view/output-kind.ts'

export const vA8: Rule = {
  id: 'V-A8',
  title: 'A schema without structured output',
  severity: 'warning',
  help: `The step has a schema with an object or a list at its root, but neither the step nor its agent nor \`[aros]\` switches structured output on. The model is then free to answer in prose, and the reader has to find the value in it.

Say \`processing: { structured_output: openai_json }\`, or \`auto\`. \`structured_output: off\` says that it is meant as it is. Schemas of texts and numbers are left alone: plain answers need no structure.

With \`aros.auto_promote\`, which is the default, such a step gets structured output anyway. The message says so; it is a warning all the same, because the file does not say it and another configuration would change what it does.`,
  good: `version: "0.1"
agents:
  writer:
    model: openai/gpt-4o-mini
    system_prompt: Write a headline.
    output_schema: { type: object, properties: { title: { type: string } } }
  plain:
    model: openai/gpt-4o-mini
    system_prompt: Write a headline.
    output_schema: { type: string }
steps:
  - name: write
    agent: writer
    processing: { structured_output: auto }
  - name: say
    agent: plain
`,
  bad: `version: "0.1"
agents:
  writer:
    model: openai/gpt-4o-mini
    system_prompt: Write a headline.
    output_schema: { type: object, properties: { title: { type: string } } }
steps:
  - name: write
    agent: writer
`,
  *check({ steps, settings }) {
    for (const step of steps) {
      const schema = schemaOf(step)
      const processing = processingOf(step.node)
      if (!schema || plainAt(processing?.value, 'structured_output') !== undefined) continue
      if (plainAt(entryOf(step.agent?.node, 'processing')?.value, 'structured_output') !== undefined) continue
      if (settings.structuredOutput !== 'off' || step.kind !== 'step' || callsNoModel(step)) continue
      if (!['object', 'array'].includes(outputKind(step))) continue
      const kind = kindOf(plainValue(schema)) === 'array' ? 'a list' : 'an object'
      yield {
        span: spanOf(step.node),
        step,
        message: settings.autoPromote
          ? `"${step.label}" must yield ${kind}, and only aros.auto_promote switches structured output on for it`
          : `"${step.label}" must yield ${kind}, but structured output is off`,
        hint: 'Add processing.structured_output: openai_json, or off if that is meant',
      }
    }
  },
}

function spanOf(node: Parameters<typeof entryOf>[0] & object) {
  const entry = entryOf(node, 'agent') ?? entryOf(node, 'uses')
  return entry && !entry.merged ? entry.keySpan : (node.alias ?? node.span)
}
