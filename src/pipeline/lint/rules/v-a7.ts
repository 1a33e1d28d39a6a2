/** V-A7: timeouts and retry counts that are not valid numbers. */

import { plainValue, type YamlMap } from '../../yaml/yaml-tree.ts'
import type { Rule, RuleFinding } from '../rule.ts'
import { findEntry, type LintStep, type LintView } from '../view/lint-view.ts'

const least: Readonly<Record<string, number>> = { timeout: Number.MIN_VALUE, max_retries: 0 }

export const vA7: Rule<'V-A7'> = {
  id: 'V-A7',
  title: 'An invalid timeout or number of retries',
  severity: 'error',
  help: `\`timeout\` is a number of seconds above 0, \`max_retries\` a whole number from 0 on; both without quotes and units. It holds for agents and for steps.`,
  good: `version: "0.1"
agents:
  writer: { model: openai/gpt-4o-mini, system_prompt: Write., output_schema: { type: string } }
steps:
  - name: write
    agent: writer
    timeout: 30
    max_retries: 2
`,
  bad: `version: "0.1"
agents:
  writer: { model: openai/gpt-4o-mini, system_prompt: Write., output_schema: { type: string } }
steps:
  - name: write
    agent: writer
    timeout: 30s
    max_retries: "2"
`,
  *check(view: LintView) {
    for (const agent of view.agents.values()) yield* inMap(agent.node)
    for (const step of view.steps) yield* inMap(step.node, step)
  },
}

function* inMap(node: YamlMap, step?: LintStep): Iterable<RuleFinding> {
  for (const [key, from] of Object.entries(least)) {
    const entry = findEntry(node, key)
    if (!entry || entry.merged) continue
    const value = plainValue(entry.value)
    const fits = typeof value === 'number' && value >= from && (key === 'timeout' || Number.isInteger(value))
    if (fits) continue
    yield {
      range: entry.value.alias ?? entry.value.range,
      ...(step && { step }),
      message: `${key} must be ${key === 'timeout' ? 'a number of seconds above 0' : 'a whole number from 0 on'}, but is ${JSON.stringify(value)}`,
      hint: 'Write the number alone, without quotes or units',
    }
  }
}
