/** Who uses the output of a step. */

import { entryOf, type LintStep, type LintView } from './lint-view.ts'
import { partsOf } from './template-marks.ts'

/** Does the step that comes next take the output as its input, by naming it or by having no input of its own? */
export function consumes(next: LintStep, step: LintStep): boolean {
  // What a branch or a body does with it is not looked into: nothing is said of what is not known.
  if (next.kind !== 'step' && next.kind !== 'hitl') return true
  if (entryOf(next.node, 'input') === undefined && next.kind === 'step') return true
  return next.marks.some(({ references }) =>
    references.some(({ text }) => isPrevious(text) || namesStep(text, step)),
  )
}

/** Does anything in the file name the step, be it in a template, a condition or a path? */
export function isNamed({ document: { source } }: LintView, { name }: LintStep): boolean {
  if (name === undefined) return false
  for (let at = source.text.indexOf(name); at >= 0; at = source.text.indexOf(name, at + 1)) {
    const before = source.text.slice(Math.max(0, at - 12), at)
    if (/\bsteps\s*(\.|\[)\s*\\?["']?$/.test(before) && !/^[\w-]/.test(source.text.slice(at + name.length)))
      return true
  }
  return /\{\{[\s]*steps\b(?!\s*[.[])/.test(source.text)
}

export function isPrevious(reference: string): boolean {
  return partsOf(reference)[0] === 'previous_step'
}

/** A bare `steps` hands all outputs on. */
function namesStep(reference: string, { name }: LintStep): boolean {
  const [root, second] = partsOf(reference)
  return root === 'steps' && (second === undefined || second === name)
}
