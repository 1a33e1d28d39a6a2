/** V-A6: an agent that does not exist. */
import { closest } from '../../../base/closest.ts'
import type { Rule } from '../rule.ts'
import { agentName, findEntry, textAt } from '../view/lint-view.ts'

export const vA6: Rule<'V-A6'> = {
  id: 'V-A6',
  title: 'An unknown agent',
  severity: 'error',
  help: `The step names an agent that is not under \`agents:\`. The names must be the same, letter by letter.`,
  good: `version: "0.1"
agents:
  writer: { model: openai/gpt-4o-mini, system_prompt: Write., output_schema: { type: string } }
steps:
  - name: write
    agent: writer
  - name: again
    uses: agents.writer
`,
  bad: `version: "0.1"
agents:
  writer: { model: openai/gpt-4o-mini, system_prompt: Write., output_schema: { type: string } }
steps:
  - name: write
    agent: wirter
`,
  *check({ steps, agents }) {
    for (const step of steps) {
      const name = agentName(step.node)
      if (name === undefined || agents.has(name) || step.kind !== 'step') continue
      const entry = findEntry(step.node, textAt(step.node, 'agent') === undefined ? 'uses' : 'agent')
      const meant = closest(name, [...agents.keys()])
      yield {
        range: entry?.value.alias ?? entry?.value.range ?? step.node.range,
        step,
        message: `agent "${name}" not found`,
        hint: meant === undefined ? 'Add it under agents:' : `Did you mean ${meant}?`,
      }
    }
  },
}
