/** V-C1: an output that is not an object cannot be merged into the context. */

import { setEntry } from '../../yaml/yaml-edits.ts'
import type { Rule } from '../rule.ts'
import { findEntry, plainAt } from '../view/lint-view.ts'
import { type OutputKind, outputKind, updatesContext } from '../view/output-kind.ts'
import { keepOutput } from '../wrapper-step.ts'

const words: Partial<Record<OutputKind, string>> = {
  text: 'a text',
  array: 'a list',
  scalar: 'a single value',
}

export const vC1: Rule<'V-C1'> = {
  id: 'V-C1',
  title: 'updates_context with an output that is not an object',
  severity: 'error',
  help: `The context is a map, and only maps can be merged into it. The step has \`updates_context: true\`, but yields a text, a list or a single value: the pipeline is not run.

Put \`uses: wrap_dict\` behind the step and let that update the context, say \`sink_to: KEY\` instead of \`updates_context\`, or give the agent an object schema. \`mergeable_output: true\` says that the output is a map whatever the schema says. \`mergeable_output: false\` says that it is not a map, so that \`updates_context\` does nothing: a warning.

Steps whose output is not known from the file, such as functions of your own, are left alone.`,
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
context: { topic: tea }
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
    input: "Judge {{ context.topic }}"
`,
  *check({ steps }) {
    for (const step of steps) {
      if (!updatesContext(step)) continue
      const said = plainAt(step.node, 'mergeable_output')
      const what = said === false ? 'what mergeable_output declares not to be a map' : words[outputKind(step)]
      if (said === true || what === undefined) continue
      const entry = findEntry(step.node, 'updates_context')
      yield {
        range:
          entry && !entry.merged && !step.node.alias ? entry.keyRange : (step.node.alias ?? step.node.range),
        step,
        ...(said === false && { severity: 'warning' as const }),
        message: `"${step.label}" updates the context, but yields ${what}`,
        hint: 'Put a step with uses: wrap_dict behind it, say sink_to, or give its agent an object schema',
      }
    }
  },
  /** Declares an object output as mergeable, or inserts a step that wraps any other output into an object. */
  fixer: {
    stage: 'steps',
    title: 'puts a step with wrap_dict behind it, or says sink_to',
    fix(view, { step }) {
      if (!step) return { cannot: 'it is about no step' }
      const { source } = view.document
      if (outputKind(step) === 'object' && plainAt(step.node, 'mergeable_output') === false) {
        if (step.node.alias) return { cannot: 'the step is shared through an alias' }
        return { edits: [setEntry(source, step.node, { key: 'mergeable_output', value: 'true' })] }
      }
      if (step.node.alias) return { cannot: 'the step is shared through an alias' }
      const stop = setEntry(source, step.node, { key: 'updates_context', value: 'false' })
      if (findEntry(step.node, 'sink_to')) return { edits: [stop] }
      const kept = keepOutput(view, step)
      return 'cannot' in kept ? kept : { ...kept, edits: [stop, ...kept.edits] }
    },
  },
}
