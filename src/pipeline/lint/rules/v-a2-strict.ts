/** V-A2-STRICT: a member of a value whose schema declares none. */
import { declares } from '../../../schema/values/schema-values.ts'
import { splitReference } from '../../templates/template-marks.ts'
import type { Rule } from '../rule.ts'
import { openAt, referred } from '../view/step-schema.ts'

export const vA2Strict: Rule<'V-A2-STRICT'> = {
  id: 'V-A2-STRICT',
  title: 'A member of an output whose schema names none',
  severity: 'note',
  help: `The template goes into a value that may be anything: a person's answer without \`input_schema\`, or an agent whose \`output_schema\` is open. Whether the member is there is seen only in the run, which fails if it is not. It is a note, because many pipelines start that way; under the profile \`strict\` it is an error.

Name the member in the schema, so that the answer is held to it, or say what stands in for it: \`| default("…")\`. Functions of your own and imports without an \`output_schema\` are left alone: what they yield is not in the file.

The original project refuses steps that take or yield anything at all; here it is checked where another step relies on what is inside.`,
  good: `version: "0.1"
agents:
  writer: { model: openai/gpt-4o-mini, system_prompt: Write., output_schema: { type: string } }
steps:
  - kind: hitl
    name: ask
    message: "Which tone?"
    input_schema: { type: object, required: [tone], properties: { tone: { type: string } } }
  - name: write
    agent: writer
    input: "Write in a {{ previous_step.tone }} tone"
`,
  bad: `version: "0.1"
agents:
  writer: { model: openai/gpt-4o-mini, system_prompt: Write., output_schema: { type: string } }
steps:
  - kind: hitl
    name: ask
    message: "Which tone?"
  - name: write
    agent: writer
    input: "Write in a {{ previous_step.tone }} tone"
`,
  *check(view) {
    for (const step of view.steps) {
      for (const { references, filters } of step.marks) {
        if (filters.some(({ text }) => text === 'default')) continue
        for (const { text, range } of references) {
          const found = referred(view, step, splitReference(text))
          if (!found || found.path.length === 0 || declares(found.schema, found.path)) continue
          const open = openAt(found.schema, found.path)
          if (open === undefined || open.names.length > 0 || open.allowsMore) continue
          yield {
            range,
            step,
            message: `nothing says that ${found.whose} has a member "${open.member}"`,
            hint: `Name "${open.member}" in its schema, or write | default("…")`,
          }
        }
      }
    }
  },
}
