/** V-C2: a `sink_to` that is not a single member of the context, or that replaces a map there. */

import { wrongSink } from '../../parse/pipeline.ts'
import type { Rule } from '../rule.ts'
import { sinkOf } from '../view/context-writes.ts'
import { entryOf, type LintStep, type LintView } from '../view/lint-view.ts'
import { outputKind } from '../view/output-kind.ts'
import { contextOf } from '../view/step-schema.ts'

export const vC2: Rule = {
  id: 'V-C2',
  title: 'sink_to that is not one member of the context',
  severity: 'error',
  help: `\`sink_to\` names one member of the context, which becomes the output of the step. Here it names something else:

- a path such as \`scratchpad.draft\`: there are no maps inside the context to put it into, and \`{{ context.scratchpad.draft }}\` finds nothing;
- \`context\` or \`scratchpad\`, the place of all members: the context has no such root, and only one step could have it;
- a member that \`context:\` gives as a map, while the step yields a text, a list or a single value: a step that reads a member of that map finds it gone.

Give the output a member of its own: \`sink_to: draft\`, read as \`{{ context.draft }}\`.

The original project has import steps that map their outputs into its scratchpad, which this rule forbade there; pipelines here have no such maps, and \`sink_to\` is where the same mistake is made.`,
  good: `version: "0.1"
agents:
  writer: { model: openai/gpt-4o-mini, system_prompt: Write., output_schema: { type: string } }
steps:
  - name: write
    agent: writer
    sink_to: draft
  - name: judge
    agent: writer
    input: "Judge {{ context.draft }}"
`,
  bad: `version: "0.1"
agents:
  writer: { model: openai/gpt-4o-mini, system_prompt: Write., output_schema: { type: string } }
steps:
  - name: write
    agent: writer
    sink_to: scratchpad.draft
  - name: judge
    agent: writer
    input: "Judge {{ context.scratchpad.draft }}"
`,
  *check(view) {
    for (const step of view.steps) {
      const entry = entryOf(step.node, 'sink_to')
      const why = entry && wrongWith(view, step)
      if (!entry || why === undefined) continue
      yield {
        span: step.node.alias ?? entry.value.alias ?? entry.value.span,
        step,
        message: why,
        hint: 'Name one member of its own, such as sink_to: draft',
      }
    }
  },
}

function wrongWith(view: LintView, step: LintStep): string | undefined {
  const key = sinkOf(step)
  if (key === undefined) return undefined
  const isMap = !['text', 'array', 'scalar'].includes(outputKind(step))
  return wrongSink(key, { given: contextOf(view), isMap })
}
