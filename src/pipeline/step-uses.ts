/** Who uses the output of a step. */

import { entryOf, type LintStep, type LintView } from './lint-view.ts'
import { perView } from './per-view.ts'
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

/** What follows each `steps.` or `steps["` of the file, up to the longest name that a step can have. */
const mentions = perView(({ document: { source } }) =>
  Array.from(source.text.matchAll(/\bsteps\s*(?:\.|\[)\s*\\?["']?/g), (found) => {
    const at = found.index + found[0].length
    return source.text.slice(at, at + 101)
  }).sort(),
)

const handsAllOn = perView(({ document: { source } }) => /\{\{[\s]*steps\b(?!\s*[.[])/.test(source.text))

/** Does anything in the file name the step, be it in a template, a condition or a path? */
export function isNamed(view: LintView, { name }: LintStep): boolean {
  if (name === undefined) return false
  const found = mentions(view)
  // Sorted, so that those which begin with the name stand together.
  let [low, high] = [0, found.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((found[middle] ?? '') < name) low = middle + 1
    else high = middle
  }
  for (let at = low; found[at]?.startsWith(name); at++)
    if (!/^[\w-]/.test((found[at] ?? '').slice(name.length))) return true
  return handsAllOn(view)
}

export function isPrevious(reference: string): boolean {
  return partsOf(reference)[0] === 'previous_step'
}

/** A bare `steps` hands all outputs on. */
function namesStep(reference: string, { name }: LintStep): boolean {
  const [root, second] = partsOf(reference)
  return root === 'steps' && (second === undefined || second === name)
}
