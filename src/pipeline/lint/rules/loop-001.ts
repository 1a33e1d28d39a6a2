/** LOOP-001: references to steps across the boundary of a loop or a map. */

import { splitReference } from '../../templates/template-marks.ts'
import type { Rule } from '../rule.ts'
import type { LintStep, LintView } from '../view/lint-view.ts'
import { around, bodyAround, type Named, stepNamed } from '../view/step-scope.ts'

export const loop001: Rule<'LOOP-001'> = {
  id: 'LOOP-001',
  title: 'A step of a loop or a map that cannot be seen from here',
  severity: 'error',
  help: `The name of a step is visible in the steps after it in the same list, and in the steps inside those. A template names a step of a \`loop\` or \`map\` body from where it is not seen, and the pipeline is not run:

- from outside: a body has run several times, and which of its outputs would be meant? The step around it has one: \`{{ steps.LOOP.output }}\`, that of the last round or the list of all. Or let the body write it into the context (\`sink_to\`).
- from a step of the same body that comes earlier: in the first round there is nothing yet. \`{{ previous_step }}\` at the beginning of a body is what the last round left, or what came before the loop; or use the context, with a first value under \`context:\`.`,
  good: `version: "0.1"
agents:
  writer: { model: openai/gpt-4o-mini, system_prompt: Write., output_schema: { type: string } }
steps:
  - kind: loop
    name: polish
    loop:
      max_loops: 3
      on_max_loops: accept
      body:
        - { name: better, agent: writer, input: "Polish {{ previous_step }}" }
        - { name: shorter, agent: writer, input: "Shorten {{ steps.better.output }}" }
  - name: judge
    agent: writer
    input: "Judge {{ steps.polish.output }}"
`,
  bad: `version: "0.1"
agents:
  writer: { model: openai/gpt-4o-mini, system_prompt: Write., output_schema: { type: string } }
steps:
  - kind: loop
    name: polish
    loop:
      max_loops: 3
      on_max_loops: accept
      body:
        - { name: better, agent: writer, input: "Polish {{ steps.shorter.output }}" }
        - { name: shorter, agent: writer, input: "Shorten {{ previous_step }}" }
  - name: judge
    agent: writer
    input: "Judge {{ previous_step }} against {{ steps.better.output }}"
`,
  *check(view) {
    for (const step of view.steps) {
      for (const { text, range } of step.marks.flatMap(({ references }) => references)) {
        const border = findBorder(view, step, text)
        if (!border) continue
        yield {
          range,
          step,
          message: border.isLater
            ? `"${border.name}" comes later in the body of "${border.body.label}": in the first round there is nothing yet`
            : `"${border.name}" is inside "${border.body.label}", and is not visible from outside`,
          hint: border.isLater
            ? 'Use previous_step, or the context with a first value'
            : `Name steps.${border.body.label}.output, or let the body write it into the context`,
        }
      }
    }
  },
}

interface Border {
  readonly name: string
  readonly body: LintStep
  readonly isLater: boolean
}

function findBorder(view: LintView, step: LintStep, reference: string): Border | undefined {
  const [root, name] = splitReference(reference)
  if (root !== 'steps' || name === undefined) return undefined
  const named = stepNamed(view, step, name)
  const body = bodyBetween(step, named)
  return body && { name, body, isLater: named.kind === 'later' }
}

/** The loop or map whose boundary lies between a template and the step that it names. */
export function bodyBetween(step: LintStep, named: Named): LintStep | undefined {
  if (named.kind === 'later') return bodyAround(named.from)
  if (named.kind !== 'inside') return undefined
  const own = new Set(around(step))
  let border: LintStep | undefined
  for (const outer of around(named.step))
    if (!own.has(outer) && (outer.kind === 'loop' || outer.kind === 'map')) border = outer
  return border
}
