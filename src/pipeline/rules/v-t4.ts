/** V-T4: a template that names a step which does not exist. */
import { closest } from '../../base/closest.ts'
import type { Rule } from '../rule.ts'
import { partsOf } from '../template-marks.ts'

export const vT4: Rule = {
  id: 'V-T4',
  title: 'A template that names an unknown step',
  severity: 'error',
  help: `\`steps.NAME\` is the step of that name, and the file has none. Steps without a name are called \`step_1\`, \`step_2\` and so on, by their place in their list.`,
  good: `version: "0.1"
agents:
  writer: { model: openai/gpt-4o-mini, system_prompt: Write., output_schema: { type: string } }
steps:
  - name: research
    agent: writer
  - name: write
    agent: writer
    input: "Write about {{ steps.research.output }}"
`,
  bad: `version: "0.1"
agents:
  writer: { model: openai/gpt-4o-mini, system_prompt: Write., output_schema: { type: string } }
steps:
  - name: research
    agent: writer
  - name: write
    agent: writer
    input: "{{ previous_step }} {{ steps.reserch.output }}"
`,
  *check({ steps }) {
    const labels = steps.map(({ label }) => label)
    for (const step of steps) {
      for (const { text, span } of step.marks.flatMap(({ references }) => references)) {
        const [root, name] = partsOf(text)
        if (root !== 'steps' || name === undefined || labels.includes(name)) continue
        const meant = closest(name, labels)
        yield {
          span,
          step,
          message: `there is no step "${name}"`,
          hint: meant === undefined ? `Steps: ${labels.slice(0, 10).join(', ')}` : `Did you mean ${meant}?`,
        }
      }
    }
  },
}
