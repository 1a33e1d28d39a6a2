/** V-S2: an object or a list that is implicitly converted to text. */
import { child } from '../../../base/pointer.ts'
import { project } from '../../../schema/build/project.ts'
import { splitReference } from '../../templates/template-marks.ts'
import type { Rule } from '../rule.ts'
import { classifyOutput } from '../view/output-kind.ts'
import { referred } from '../view/step-schema.ts'

export const vS2: Rule<'V-S2'> = {
  id: 'V-S2',
  title: 'An object or a list in the middle of a text',
  severity: 'note',
  help: `The template is surrounded by other words, so its value becomes text, and an object or a list becomes its JSON. The structure that the step before was held to is gone for the step that reads it.

Name the member that is meant (\`{{ previous_step.title }}\`), hand the value on whole by letting the template stand alone, or say that JSON is meant: \`| tojson\`.`,
  good: `version: "0.1"
agents:
  namer:
    model: openai/gpt-4o-mini
    system_prompt: Find a title.
    output_schema: { type: object, required: [title], properties: { title: { type: string } } }
  writer: { model: openai/gpt-4o-mini, system_prompt: Write., output_schema: { type: string } }
steps:
  - name: name
    agent: namer
    processing: { structured_output: auto }
  - name: write
    agent: writer
    input: "Write about {{ previous_step.title }}, as in {{ previous_step | tojson }}"
`,
  bad: `version: "0.1"
agents:
  namer:
    model: openai/gpt-4o-mini
    system_prompt: Find a title.
    output_schema: { type: object, required: [title], properties: { title: { type: string } } }
  writer: { model: openai/gpt-4o-mini, system_prompt: Write., output_schema: { type: string } }
steps:
  - name: name
    agent: namer
    processing: { structured_output: auto }
  - name: write
    agent: writer
    input: "Write about {{ previous_step }}"
`,
  *check(view) {
    for (const step of view.steps) {
      for (const { whole, filters, references } of step.marks) {
        const [reference, ...others] = references
        if (whole || filters.length > 0 || !reference || others.length > 0) continue
        const found = referred(view, step, splitReference(reference.text))
        if (!found) continue
        const { schema } = project(found.schema, found.path.reduce<string>(child, ''))
        const kind = classifyOutput(schema)
        if (kind !== 'object' && kind !== 'array') continue
        yield {
          range: reference.range,
          step,
          message: `${reference.text} is ${kind === 'array' ? 'a list' : 'an object'}, and becomes JSON in the middle of a text`,
          hint: 'Name the member that is meant, or write | tojson',
        }
      }
    }
  },
}
