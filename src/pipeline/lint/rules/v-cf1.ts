/** V-CF1: an exit condition that no round can change. */
import { conditionVars, evaluate, parseCondition } from '../../../schema/condition/condition.ts'
import { compileExpression } from '../../expressions/compile-expression.ts'
import type { Rule } from '../rule.ts'
import { keysWritten, mergedBy } from '../view/context-writes.ts'
import { findEntry, type LintStep, type LintView, plainAt } from '../view/lint-view.ts'
import { within } from '../view/step-scope.ts'

export const vCF1: Rule<'V-CF1'> = {
  id: 'V-CF1',
  title: 'An exit condition that no round can change',
  severity: 'warning',
  help: `The \`exit_condition\` of the loop looks only at things that stay as they are while it goes round: the input, steps before the loop, members of the context that its body does not write, or nothing at all. It holds after the first round or never. Where it is certain that it never holds and \`on_max_loops\` does not accept that, every run fails: an error.

Use what a round yields: \`previous_step\`, a step of the body, a member of the context that the body writes, or \`iteration\`.

Loops without a bound, which this rule of the original project is about, cannot be written: \`max_loops\` is required and at most 200. A loop without any exit condition is what V-L1 speaks of.`,
  good: `version: "0.1"
agents:
  judge:
    model: openai/gpt-4o-mini
    system_prompt: Judge.
    output_schema: { type: object, required: [good], properties: { good: { type: boolean } } }
    processing: { structured_output: auto }
steps:
  - kind: loop
    name: polish
    loop:
      max_loops: 3
      exit_condition: { "==": [{ var: previous_step.good }, true] }
      body: [{ name: rate, agent: judge }]
`,
  bad: `version: "0.1"
agents:
  judge:
    model: openai/gpt-4o-mini
    system_prompt: Judge.
    output_schema: { type: object, required: [good], properties: { good: { type: boolean } } }
    processing: { structured_output: auto }
steps:
  - name: first
    agent: judge
  - kind: loop
    name: polish
    loop:
      max_loops: 3
      exit_condition: { "==": [{ var: steps.first.output.good }, true] }
      body: [{ name: rate, agent: judge }]
`,
  *check(view) {
    for (const step of view.steps) {
      const loop = findEntry(step.node, 'loop')?.value
      const entry = findEntry(loop, 'exit_condition')
      const parsed = readExit(plainAt(loop, 'exit_condition'))
      if (step.kind !== 'loop' || !entry || !parsed.ok) continue
      const paths = conditionVars(parsed.condition)
      if (paths.some((path) => changes(view, step, path))) continue
      const always = paths.length === 0 && evaluate(parsed.condition, null).kind === 'true'
      const never = paths.length === 0 && !always
      const fails = never && plainAt(loop, 'on_max_loops') !== 'accept'
      yield {
        range: entry.value.alias ?? entry.value.range,
        step,
        ...(fails && { severity: 'error' as const }),
        message: `${always ? 'the exit condition always holds' : never ? 'the exit condition never holds' : 'no round changes what the exit condition reads'}: ${always ? `"${step.label}" goes one round` : fails ? `"${step.label}" always fails` : `"${step.label}" ends after one round or at its bound`}`,
        hint: 'Read previous_step, a step of the body, or a member of the context that the body writes',
      }
    }
  },
}

/** The exit condition as JSON-Logic; an expression that cannot be compiled is not for this rule. */
function readExit(given: unknown) {
  const compiled = typeof given === 'string' ? compileExpression(given) : undefined
  return parseCondition(compiled?.ok ? compiled.condition : given)
}

/** Can the value at the path change between rounds? */
function changes(view: LintView, loop: LintStep, path: string): boolean {
  const [root = '', name] = path.split('.')
  if (root === 'previous_step' || root === 'iteration') return true
  if (root === 'steps') return name === undefined || loop.inside.some(({ label }) => label === name)
  if (root !== 'context') return false
  return [...within(loop)].some(
    (inner) =>
      name === undefined || mergedBy(view, inner) === undefined || keysWritten(view, inner).includes(name),
  )
}
