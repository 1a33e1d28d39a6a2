/** V-SM1: unreachable branches, and values without a branch. */

import { getValueLookup } from '../../../schema/values/schema-values.ts'
import { listed } from '../../../schema/values/value-set.ts'
import { expressionsIn, parseTemplate } from '../../templates/templates.ts'
import type { Rule, RuleFinding } from '../rule.ts'
import { findEntry, type LintStep, type LintView, plainAt } from '../view/lint-view.ts'
import { referred } from '../view/step-schema.ts'

export const vSM1: Rule<'V-SM1'> = {
  id: 'V-SM1',
  title: 'A branch that is never reached, or a value without a branch',
  severity: 'warning',
  help: `The \`condition_expression\` has only the values that the schema of its source allows. One branch is for none of them, so it is never taken; or one value has no branch, and without \`default_branch\` the run fails on it.

Correct the name, add the branch, or say \`default_branch\`.

The original project has state machines, and a rule of this name for states that cannot be reached. The kind \`StateMachine\` is refused here (\`pipeline/kind\`), with what to write instead: choices are \`conditional\` and \`router\` steps, which this rule checks.`,
  good: `version: "0.1"
agents:
  sorter:
    model: openai/gpt-4o-mini
    system_prompt: Sort.
    output_schema: { enum: [praise, complaint] }
  writer: { model: openai/gpt-4o-mini, system_prompt: Write., output_schema: { type: string } }
steps:
  - name: sort
    agent: sorter
  - kind: conditional
    name: answer
    condition_expression: "{{ previous_step }}"
    branches:
      praise: [{ name: thank, agent: writer, input: Thank them. }]
      complaint: [{ name: excuse, agent: writer, input: Say sorry. }]
`,
  bad: `version: "0.1"
agents:
  sorter:
    model: openai/gpt-4o-mini
    system_prompt: Sort.
    output_schema: { enum: [praise, complaint] }
  writer: { model: openai/gpt-4o-mini, system_prompt: Write., output_schema: { type: string } }
steps:
  - name: sort
    agent: sorter
  - kind: conditional
    name: answer
    condition_expression: "{{ previous_step }}"
    branches:
      praise: [{ name: thank, agent: writer, input: Thank them. }]
      complaints: [{ name: excuse, agent: writer, input: Say sorry. }]
`,
  *check(view) {
    for (const step of view.steps) if (step.kind === 'conditional') yield* ofStep(view, step)
  },
}

function* ofStep(view: LintView, step: LintStep): Iterable<RuleFinding> {
  const branches = findEntry(step.node, 'branches')?.value
  const values = valuesIn(view, step)
  if (branches?.kind !== 'map' || values === undefined) return
  const otherwise = plainAt(step.node, 'default_branch')
  for (const { key, keyRange, merged } of branches.entries) {
    if (key === otherwise || values.includes(key)) continue
    yield {
      range: merged ? (step.node.alias ?? step.node.range) : keyRange,
      step,
      message: `no value leads to the branch "${key}": there are ${values.slice(0, 10).join(', ')}`,
      hint: 'Correct its name, or remove it',
    }
  }
  const names = new Set(branches.entries.map(({ key }) => key))
  const without = values.filter((value) => !names.has(value))
  if (otherwise !== undefined || without.length === 0) return
  const entry = findEntry(step.node, 'condition_expression')
  yield {
    range: entry?.value.alias ?? entry?.value.range ?? step.node.range,
    step,
    message: `"${step.label}" has no branch for ${without.slice(0, 10).join(', ')}`,
    hint: 'Add the branch, or say default_branch',
  }
}

/** The possible values of the expression, as names of branches; `undefined` where they are not limited. */
function valuesIn(view: LintView, step: LintStep): readonly string[] | undefined {
  const text = plainAt(step.node, 'condition_expression')
  if (typeof text !== 'string') return undefined
  const parsed = parseTemplate(text)
  const [expression] = expressionsIn(text)
  if (!parsed.ok || parsed.parts.length !== 1 || !expression?.path || expression.filters.length > 0)
    return undefined
  const found = referred(view, step, expression.path)
  const values = found && listed(getValueLookup(found.schema)(found.path))
  if (!values || values.length === 0 || values.some((value) => typeof value === 'object' && value !== null))
    return undefined
  return values.map(String)
}
