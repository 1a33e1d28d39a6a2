/** V-A5: the output of a model call that is never used. */

import { isObject } from '../../../base/json.ts'
import { listMembers } from '../../../schema/build/project.ts'
import { setEntry } from '../../yaml/yaml-edits.ts'
import type { Rule } from '../rule.ts'
import { isTaken } from '../view/context-index.ts'
import { findEntry, type LintStep, type LintView, plainAt } from '../view/lint-view.ts'
import { outputKind, updatesContext } from '../view/output-kind.ts'
import { outputSchema } from '../view/step-schema.ts'
import { consumes, isNamed } from '../view/step-uses.ts'
import { keepOutput } from '../wrapper-step.ts'

export const vA5: Rule<'V-A5'> = {
  id: 'V-A5',
  title: 'An output that nothing uses',
  severity: 'warning',
  help: `The step calls an agent, does not update the context, and no template names its output: the next step has an input of its own without \`previous_step\`, and no template says \`steps.NAME\`. The call is paid for and its answer is lost.

Use it (\`{{ previous_step }}\`, \`{{ steps.NAME.output }}\`), set \`updates_context: true\`, or remove the step. The last step of a sequence is its result and always used; steps before a branch, a loop or a map are left alone, and so are functions, which may be there for what they do.`,
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
context: { topic: tea }
agents:
  writer: { model: openai/gpt-4o-mini, system_prompt: Write., output_schema: { type: string } }
steps:
  - name: research
    agent: writer
  - name: write
    agent: writer
    input: "Write about {{ context.topic }}"
`,
  *check(view) {
    for (const step of view.steps) {
      const next = step.sequence[step.index + 1]
      if (!next || !step.agent || step.kind !== 'step' || updatesContext(step)) continue
      if (consumes(next, step) || isNamed(view, step) || findEntry(step.node, 'sink_to')) continue
      const kind = outputKind(step) === 'object' ? 'object' : 'answer'
      yield {
        range: step.node.alias ?? findEntry(step.node, 'name')?.value.range ?? step.node.range,
        step,
        message: `nothing uses the ${kind} of "${step.label}"`,
        hint: `Name it in a template ({{ steps.${step.label}.output }}), set updates_context, or remove the step`,
      }
    }
  },
  /** Puts the output into the context as an object, where later steps find it. */
  fixer: {
    stage: 'keys',
    title: 'puts the output into the context',
    fix(view, { step }) {
      if (!step) return { cannot: 'it is about no step' }
      const merges = outputKind(step) === 'object' && plainAt(step.node, 'mergeable_output') !== false
      // Parallel branches must not write the same members: there the output gets a member of its own.
      if (!merges || isBesideOthers(step) || overwrites(view, step)) return keepOutput(view, step)
      if (step.node.alias) return { cannot: 'the step is shared through an alias' }
      return { edits: [setEntry(view.document.source, step.node, { key: 'updates_context', value: 'true' })] }
    },
  },
}

/** Would merging the output overwrite members that the context already has, and so change what their readers get? */
function overwrites(view: LintView, step: LintStep): boolean {
  const schema = outputSchema(view, step)
  return isObject(schema) && listMembers(schema).some(({ name }) => isTaken(view, name))
}

function isBesideOthers(step: LintStep): boolean {
  for (let at = step.parent; at; at = at.parent) if (at.kind === 'parallel') return true
  return false
}
