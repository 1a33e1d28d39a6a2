/** V-A2-TYPE: two schemas of one value that no value satisfies. */
import { both } from '../../../schema/build/combine.ts'
import type { JsonSchema } from '../../../schema/json-schema.ts'
import { isVacant } from '../../../schema/values/schema-values.ts'
import type { Rule, RuleFinding } from '../rule.ts'
import { findEntry, type LintStep, type LintView, plainAt } from '../view/lint-view.ts'
import { outputSchema, usable } from '../view/step-schema.ts'

export const vA2Type: Rule<'V-A2-TYPE'> = {
  id: 'V-A2-TYPE',
  title: 'Schemas of one value that exclude each other',
  severity: 'error',
  help: `Two places of the file say what one value is, and nothing can be both: no run could succeed.

- The \`output_schema\` of the file and the schema of the last step, whose output is the answer.
- The schema of a step and its \`validate_fields\`, which names members that the schema rules out.

Change one of the two, or put a step behind that makes the one of the other.

The original project compares the type that a step yields with the one that the next expects; here this is about all that two places of the file say of one value.`,
  good: `version: "0.1"
output_schema: { type: string }
agents:
  writer: { model: openai/gpt-4o-mini, system_prompt: Write., output_schema: { type: string } }
steps:
  - name: write
    agent: writer
`,
  bad: `version: "0.1"
output_schema: { type: object, required: [title], properties: { title: { type: string } } }
agents:
  writer: { model: openai/gpt-4o-mini, system_prompt: Write., output_schema: { type: string } }
steps:
  - name: write
    agent: writer
`,
  *check(view) {
    yield* answer(view)
    for (const step of view.steps) yield* fields(view, step)
  },
}

function* answer(view: LintView): Iterable<RuleFinding> {
  const entry = findEntry(view.document.root, 'output_schema')
  const wanted = usable(entry?.value)
  const last = view.steps.findLast(({ parent }) => parent === undefined)
  const given = last && outputSchema(view, last)
  if (!entry || !last || wanted === undefined || given === undefined || !excludes(wanted, given)) return
  yield {
    range: entry.value.alias ?? entry.value.range,
    step: last,
    message: `the answer is the output of "${last.label}", which can never satisfy output_schema`,
    hint: 'Change output_schema or the schema of the last step, or put a step behind it',
  }
}

function* fields(view: LintView, step: LintStep): Iterable<RuleFinding> {
  const entry = findEntry(step.node, 'validate_fields')
  const names = plainAt(step.node, 'validate_fields')
  const schema = entry && outputSchema(view, step)
  if (!entry || schema === undefined || !Array.isArray(names)) return
  const wrong = names.find((name) => excludes(schema, { type: 'object', required: [String(name)] }))
  if (wrong === undefined) return
  yield {
    range: entry.value.alias ?? entry.value.range,
    step,
    message: `the schema of "${step.label}" rules out the member "${String(wrong)}"`,
    hint: 'Take it out of validate_fields, or let the schema have it',
  }
}

function excludes(a: JsonSchema, b: JsonSchema): boolean {
  return isVacant(both(a, b))
}
