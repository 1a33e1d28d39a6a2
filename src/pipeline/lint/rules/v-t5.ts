/** V-T5: a member that the schema of the referenced value does not have. */
import { closest } from '../../../base/closest.ts'
import { listMembers } from '../../../schema/build/project.ts'
import { declares } from '../../../schema/values/schema-values.ts'
import { splitReference } from '../../templates/template-marks.ts'
import type { Rule } from '../rule.ts'
import { leadsNowhere, openAt, referred } from '../view/step-schema.ts'

export const vT5: Rule<'V-T5'> = {
  id: 'V-T5',
  title: 'A member that the schema does not have',
  severity: 'error',
  help: `The template names a member of an output, of an item or of the input, and the schema does not have it. Where the schema rules it out (a text has no members, an object may be closed), the pipeline is not run: an error. Where it only does not name it, the model has not been asked for it, and the run fails when it is not there: a warning, unless \`| default("…")\` says what stands in for it.

Correct the name, or add the member to the schema. Schemas that say \`additionalProperties\` are left alone.`,
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
    input: "Write about {{ previous_step.title }}"
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
    input: "Write about {{ previous_step.titel }}"
  - name: shorten
    agent: writer
    input: "Shorten {{ previous_step.text }}"
`,
  *check(view) {
    for (const step of view.steps) {
      for (const { references, filters } of step.marks) {
        const hasDefault = filters.some(({ text }) => text === 'default')
        for (const { text, range } of references) {
          const found = referred(view, step, splitReference(text))
          if (!found || found.path.length === 0 || declares(found.schema, found.path)) continue
          if (leadsNowhere(found.schema, found.path)) {
            const names = listMembers(found.schema).map(({ name }) => name)
            yield {
              range,
              step,
              message: `${text} leads nowhere: ${found.whose} has no "${found.path.join('.')}"`,
              hint: getHint(found.path[0] ?? '', names),
            }
            continue
          }
          const open = openAt(found.schema, found.path)
          if (hasDefault || open === undefined || open.names.length === 0 || open.allowsMore) continue
          yield {
            range,
            step,
            severity: 'warning',
            message: `the schema of ${found.whose} names no "${open.member}"`,
            hint: getHint(open.member, open.names),
          }
        }
      }
    }
  },
}

function getHint(name: string, names: readonly string[]): string {
  const meant = closest(name, names)
  if (meant !== undefined) return `Did you mean ${meant}?`
  return names.length > 0 ? `It has ${names.slice(0, 10).join(', ')}` : 'It has no members'
}
