/** V-I5: an input that the imported pipeline cannot accept. */
import { both } from '../../../schema/build/combine.ts'
import { isVacant } from '../../../schema/values/schema-values.ts'
import type { Rule } from '../rule.ts'
import { findEntry, textAt } from '../view/lint-view.ts'
import { givenSchema } from '../view/step-schema.ts'

export const vI5: Rule<'V-I5'> = {
  id: 'V-I5',
  title: 'An input that the imported pipeline cannot take',
  severity: 'warning',
  help: `The imported pipeline says what it takes (\`input_schema\`), and what the step gives it can never be that: a text where it wants an object, or an object without a member that it requires. An imported pipeline sees its input and nothing else of this one.

Give the step an \`input\` of the right form: \`input: { topic: "{{ previous_step }}" }\`.`,
  good: `version: "0.1"
imports: { title: title.yaml }
steps:
  - name: title
    uses: imports.title
    input: { topic: "{{ input }}" }
`,
  bad: `version: "0.1"
imports: { title: title.yaml }
steps:
  - name: title
    uses: imports.title
    input: "A title for {{ input }}"
`,
  beside: {
    'title.yaml': `version: "0.1"
input_schema: { type: object, required: [topic], properties: { topic: { type: string } } }
agents:
  writer: { model: openai/gpt-4o-mini, system_prompt: Write., output_schema: { type: string } }
steps:
  - name: write
    agent: writer
    input: "A title for {{ input.topic }}"
`,
  },
  *check(view) {
    for (const step of view.steps) {
      const uses = textAt(step.node, 'uses')
      const name = uses?.startsWith('imports.') ? uses.slice('imports.'.length) : undefined
      const wanted = name === undefined ? undefined : view.seen.get(name)?.pipeline?.inputSchema
      const given = wanted === undefined ? undefined : givenSchema(view, step)
      if (wanted === undefined || given === undefined || !isVacant(both(wanted, given))) continue
      const entry = findEntry(step.node, 'input') ?? findEntry(step.node, 'uses')
      yield {
        range: step.node.alias ?? entry?.value.alias ?? entry?.value.range ?? step.node.range,
        step,
        message: `what "${step.label}" is given can never satisfy the input_schema of "${name}"`,
        hint: 'Give it an input of the form that the imported pipeline asks for',
      }
    }
  },
}
