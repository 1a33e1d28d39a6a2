/** V-T4: a reference to a step that does not exist or is not in scope. */
import { closest } from '../../../base/closest.ts'
import { splitReference } from '../../templates/template-marks.ts'
import type { Rule } from '../rule.ts'
import type { LintStep, LintView } from '../view/lint-view.ts'
import { stepNamed, stepsByLabel } from '../view/step-scope.ts'
import { bodyBetween } from './loop-001.ts'

export const vT4: Rule<'V-T4'> = {
  id: 'V-T4',
  title: 'A template that names an unknown step',
  severity: 'error',
  help: `\`steps.NAME\` is a step of that name that comes before, in the same list or in one around it. The file has no such step, or it comes later, or it is in a branch, which is not visible from outside: then name the step with the branches, or let the branch write into the context. Steps without a name are called \`step_1\`, \`step_2\` and so on, by their position in the list.

What loops and maps have of their own is said by LOOP-001.`,
  good: `version: "0.1"
agents:
  writer: { model: openai/gpt-4o-mini, system_prompt: Write., output_schema: { type: string } }
steps:
  - name: research
    agent: writer
  - name: write
    agent: writer
    input: "Write about {{ steps.research.output }}"
`,
  bad: `version: "0.1"
agents:
  writer: { model: openai/gpt-4o-mini, system_prompt: Write., output_schema: { type: string } }
steps:
  - name: research
    agent: writer
  - name: write
    agent: writer
    input: "{{ previous_step }} {{ steps.reserch.output }} {{ steps.judge.output }}"
  - name: judge
    agent: writer
`,
  *check(view) {
    const hinted = { left: mostHinted }
    for (const step of view.steps) {
      for (const { text, range } of step.marks.flatMap(({ references }) => references)) {
        const [root, name] = splitReference(text)
        const wrong =
          root === 'steps' && name !== undefined ? wrongWith(view, step, { name, hinted }) : undefined
        if (wrong) yield { range, step, ...wrong }
      }
    }
  },
}

/**
 * Limit on "did you mean" hints: each compares an unknown name with all known ones, which is slow and of
 * little use in a file with hundreds of them.
 */
const mostHinted = 100

function wrongWith(
  view: LintView,
  step: LintStep,
  { name, hinted }: { readonly name: string; readonly hinted: { left: number } },
): { readonly message: string; readonly hint: string } | undefined {
  const named = stepNamed(view, step, name)
  if (named.kind === 'seen' || bodyBetween(step, named)) return undefined
  if (named.kind === 'later')
    return {
      message: named.step === step ? `"${name}" is this step itself` : `the step "${name}" comes later`,
      hint: 'Name a step that comes before',
    }
  if (named.kind === 'inside') {
    const { parent } = named.step
    return {
      message: `the step "${name}" is inside "${parent?.label}", and is not visible from here`,
      hint: `Name steps.${parent?.label}.output, or let the branch write it into the context`,
    }
  }
  const labels = [...stepsByLabel(view).keys()]
  const meant = --hinted.left < 0 ? undefined : closest(name, labels)
  return {
    message: `step "${name}" not found`,
    hint: meant === undefined ? `Steps: ${labels.slice(0, 10).join(', ')}` : `Did you mean ${meant}?`,
  }
}
