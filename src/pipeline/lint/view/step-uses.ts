/** Finds the uses of a step's output. */

import { splitReference } from '../../templates/template-marks.ts'
import { findEntry, type LintStep, type LintView, perView } from './lint-view.ts'

/** Does the next step take the output as its input, by naming it or by having no input of its own? */
export function consumes(next: LintStep, step: LintStep): boolean {
  // Branches and bodies are not analysed: assume that they use it, so that no false finding is reported.
  if (next.kind !== 'step' && next.kind !== 'hitl') return true
  if (findEntry(next.node, 'input') === undefined && next.kind === 'step') return true
  return next.marks.some(({ references }) =>
    references.some(({ text }) => isPrevious(text) || namesStep(text, step)),
  )
}

/** The text after each `steps.` or `steps["` of the file, cut to the longest possible name of a step, sorted. */
const mentions = perView(({ document: { source } }) =>
  Array.from(source.text.matchAll(/\bsteps\s*(?:\.|\[)\s*\\?["']?/g), (found) => {
    const at = found.index + found[0].length
    return source.text.slice(at, at + 101)
  }).sort(),
)

const handsAllOn = perView(({ document: { source } }) => /\{\{[\s]*steps\b(?!\s*[.[])/.test(source.text))

/** Does anything in the file name the step: a template, a condition or a path? */
export function isNamed(view: LintView, { name }: LintStep): boolean {
  if (name === undefined) return false
  const found = mentions(view)
  // Binary search: in sorted order, the texts that begin with the name are adjacent.
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
  return splitReference(reference)[0] === 'previous_step'
}

/** A bare `steps` passes on all outputs. */
function namesStep(reference: string, { name }: LintStep): boolean {
  const [root, second] = splitReference(reference)
  return root === 'steps' && (second === undefined || second === name)
}
