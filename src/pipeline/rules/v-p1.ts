/** V-P1: branches side by side that write the same member of the context. */
import { isObject } from '../../base/json.ts'
import { entryOf, type LintStep, textAt } from '../lint-view.ts'
import { schemaOf, updatesContext } from '../output-kind.ts'
import type { Rule } from '../rule.ts'
import { plainValue } from '../yaml-node.ts'

export const vP1: Rule = {
  id: 'V-P1',
  title: 'Parallel branches that write the same member of the context',
  severity: 'warning',
  help: `Two branches of a \`parallel\` step put a member of the same name into the context, by \`updates_context\` or \`sink_to\`. Only one of the two is left, and which one is not what the branches say.

Give the members different names: \`sink_to: KEY\`, or \`wrap_dict\` with another \`key\`.`,
  good: `version: "0.1"
agents:
  writer: { model: openai/gpt-4o-mini, system_prompt: Write., output_schema: { type: string } }
steps:
  - kind: parallel
    name: both
    branches:
      short: [{ name: write_short, agent: writer, sink_to: short }]
      long: [{ name: write_long, agent: writer, sink_to: long }]
`,
  bad: `version: "0.1"
agents:
  writer: { model: openai/gpt-4o-mini, system_prompt: Write., output_schema: { type: string } }
steps:
  - kind: parallel
    name: both
    branches:
      short: [{ name: write_short, agent: writer, sink_to: text }]
      long: [{ name: write_long, agent: writer, sink_to: text }]
`,
  *check({ steps }) {
    for (const step of steps) {
      if (step.kind !== 'parallel') continue
      const first = new Map<string, LintStep>()
      for (const inside of step.inside) {
        for (const key of keysWritten(inside)) {
          const other = first.get(key)
          if (other === undefined) first.set(key, inside)
          else if (other.sequence !== inside.sequence) {
            const entry = entryOf(inside.node, 'sink_to') ?? entryOf(inside.node, 'updates_context')
            yield {
              span: entry && !entry.merged ? entry.keySpan : (inside.node.alias ?? inside.node.span),
              step: inside,
              message: `"${inside.label}" writes "${key}" into the context, and so does "${other.label}" in another branch`,
              hint: 'Give one of them another name, with sink_to or wrap_dict',
            }
          }
        }
      }
    }
  },
}

/** As far as the file says. */
function keysWritten(step: LintStep): readonly string[] {
  const sink = textAt(step.node, 'sink_to')
  const schema = updatesContext(step) ? schemaOf(step) : undefined
  const plain = schema && plainValue(schema)
  const properties = isObject(plain) && isObject(plain['properties']) ? Object.keys(plain['properties']) : []
  return [...new Set([...(sink === undefined ? [] : [sink]), ...properties])]
}
