/** V-C1: what is no object cannot be merged into the context. */
import { entryOf, plainAt } from '../lint-view.ts'
import { type OutputKind, outputKind, updatesContext } from '../output-kind.ts'
import type { Rule } from '../rule.ts'
import { consumes } from '../step-uses.ts'

const words: Partial<Record<OutputKind, string>> = {
  text: 'a text',
  array: 'a list',
  scalar: 'a single value',
}

export const vC1: Rule = {
  id: 'V-C1',
  title: 'updates_context with an output that is no object',
  severity: 'error',
  help: `The context is an object, and only objects can be merged into it. The step has \`updates_context: true\`, but yields a text, a list or a single value, so nothing of it would get there. It is an error when the next step does not use the output either, else a warning.

Put \`uses: wrap_dict\` behind the step and let that update the context, say \`sink_to: KEY\` instead of \`updates_context\`, or give the agent an object schema. \`mergeable_output: true\` says that the output is an object whatever the schema says; \`false\` says that it is none.

Steps whose output is not known from the file, such as functions of your own, are left alone, and so is the last step of a sequence.`,
  good: `version: "0.1"
agents:
  writer:
    model: openai/gpt-4o-mini
    system_prompt: Write a headline.
    output_schema: { type: string }
steps:
  - name: write
    agent: writer
  - name: keep
    uses: wrap_dict
    updates_context: true
  - name: judge
    agent: writer
    input: "Judge {{ context.value }}"
`,
  bad: `version: "0.1"
agents:
  writer:
    model: openai/gpt-4o-mini
    system_prompt: Write a headline.
    output_schema: { type: string }
steps:
  - name: write
    agent: writer
    updates_context: true
  - name: judge
    agent: writer
    input: "Judge {{ context.title }}"
`,
  *check({ steps }) {
    for (const step of steps) {
      const next = step.sequence[step.index + 1]
      if (!next || !updatesContext(step)) continue
      const said = plainAt(step.node, 'mergeable_output')
      const what = said === false ? 'what mergeable_output says is no object' : words[outputKind(step)]
      if (said === true || what === undefined || entryOf(step.node, 'sink_to')) continue
      const entry = entryOf(step.node, 'updates_context')
      yield {
        span:
          entry && !entry.merged && !step.node.alias ? entry.keySpan : (step.node.alias ?? step.node.span),
        step,
        severity: consumes(next, step) ? 'warning' : 'error',
        message: `"${step.label}" updates the context, but yields ${what}`,
        hint: 'Put a step with uses: wrap_dict behind it, or give its agent an object schema',
      }
    }
  },
}
