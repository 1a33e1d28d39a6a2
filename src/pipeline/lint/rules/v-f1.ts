/** V-F1: a fallback to the agent that failed. */

import type { Rule } from '../rule.ts'
import { agentName, findEntry, textAt } from '../view/lint-view.ts'

export const vF1: Rule<'V-F1'> = {
  id: 'V-F1',
  title: 'A fallback to the same agent',
  severity: 'warning',
  help: `The fallback of the step is its own agent: what made it fail will make it fail again. Name another agent, with another model or a simpler prompt; to try the same one again there is \`max_retries\`.`,
  good: `version: "0.1"
agents:
  writer: { model: openai/gpt-4o-mini, system_prompt: Write., output_schema: { type: string } }
  simple: { model: openai/gpt-4o-mini, system_prompt: Write simply., output_schema: { type: string } }
steps:
  - name: write
    agent: writer
    fallback: agents.simple
`,
  bad: `version: "0.1"
agents:
  writer: { model: openai/gpt-4o-mini, system_prompt: Write., output_schema: { type: string } }
steps:
  - name: write
    agent: writer
    fallback: { agent: writer }
`,
  *check({ steps }) {
    for (const step of steps) {
      const fallback = findEntry(step.node, 'fallback')?.value
      const said = fallback?.kind === 'map' ? agentName(fallback) : textAt(step.node, 'fallback')
      if (fallback === undefined || said === undefined) continue
      if (said.replace(/^agents\./, '') !== agentName(step.node)) continue
      yield {
        range: fallback.alias ?? fallback.range,
        step,
        message: `"${step.label}" falls back to the agent that failed`,
        hint: 'Name another agent, or use max_retries',
      }
    }
  },
}
