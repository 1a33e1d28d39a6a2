/** V-T1: previous_step is the output itself and has no `.output`. */
import { isObject } from '../../../base/json.ts'
import { splitReference } from '../../templates/template-marks.ts'
import { plainValue } from '../../yaml/yaml-tree.ts'
import type { Rule } from '../rule.ts'
import type { LintStep } from '../view/lint-view.ts'
import { findSchemaNode } from '../view/output-kind.ts'

export const vT1: Rule<'V-T1'> = {
  id: 'V-T1',
  title: 'previous_step.output',
  severity: 'warning',
  help: `\`previous_step\` is the output of the step before, not a record that has one. \`previous_step.output\` looks for a property \`output\` in it, which is hardly meant, and usually finds nothing.

Write \`{{ previous_step }}\`; steps that are named have one: \`{{ steps.NAME.output }}\`. Nothing is said when the schema of the step before has a property \`output\`.`,
  good: `version: "0.1"
agents:
  writer: { model: openai/gpt-4o-mini, system_prompt: Write., output_schema: { type: string } }
steps:
  - name: research
    agent: writer
  - name: write
    agent: writer
    input: "Write about {{ previous_step }}"
`,
  bad: `version: "0.1"
agents:
  writer: { model: openai/gpt-4o-mini, system_prompt: Write., output_schema: { type: string } }
steps:
  - name: research
    agent: writer
  - name: write
    agent: writer
    input: "Write about {{ previous_step.output }}"
`,
  *check({ steps }) {
    for (const step of steps) {
      for (const { text, range } of step.marks.flatMap(({ references }) => references)) {
        const [root, second] = splitReference(text)
        if (root !== 'previous_step' || second !== 'output' || hasOutput(step)) continue
        yield {
          range,
          step,
          message: `${text} looks for a property "output" in the output of the step before`,
          hint: 'Write previous_step',
        }
      }
    }
  },
  /** Removes `.output`. */
  fixer: {
    stage: 'text',
    title: 'writes previous_step without .output',
    fix({ document: { source } }, { range }) {
      const [root, said] = ['previous_step', '.output']
      if (!source.text.slice(...range).startsWith(root + said))
        return { cannot: 'it is written in an unusual way' }
      const start = range[0] + root.length
      return { edits: [{ span: [start, start + said.length], text: '' }] }
    },
  },
}

function hasOutput({ sequence, index }: LintStep): boolean {
  const before = sequence[index - 1]
  const schema = before && findSchemaNode(before)
  const plain = schema && plainValue(schema)
  const properties = isObject(plain) ? plain['properties'] : undefined
  return isObject(properties) && Object.hasOwn(properties, 'output')
}
