/** Resolves which steps a template can name: those before it, and those before the steps that contain it. */
import type { LintStep, LintView } from './lint-view.ts'
import { perView } from './lint-view.ts'

/** The result of resolving a name. */
export type Named =
  | { readonly kind: 'seen'; readonly step: LintStep }
  /** The step exists but runs later, in this sequence or in an enclosing one. */
  | { readonly kind: 'later'; readonly step: LintStep; readonly from: LintStep }
  /** The step is nested inside another step, and so not visible. */
  | { readonly kind: 'inside'; readonly step: LintStep }
  | { readonly kind: 'unknown' }

/** All steps by the name that templates use. */
export const stepsByLabel = perView(({ steps }) => {
  const found = new Map<string, LintStep[]>()
  for (const step of steps) {
    const same = found.get(step.label)
    if (same) same.push(step)
    else found.set(step.label, [step])
  }
  return found
})

export function stepNamed(view: LintView, step: LintStep, name: string): Named {
  const candidates = stepsByLabel(view).get(name) ?? []
  const [first] = candidates
  if (first === undefined) return { kind: 'unknown' }
  // The innermost sequence wins, as in the compiler.
  for (let from: LintStep | undefined = step; from; from = from.parent) {
    const { sequence, index } = from
    const found = candidates.find((each) => each.sequence === sequence && each.index < index)
    if (found) return { kind: 'seen', step: found }
  }
  for (let from: LintStep | undefined = step; from; from = from.parent) {
    const { sequence } = from
    const later = candidates.find((each) => each.sequence === sequence)
    if (later) return { kind: 'later', step: later, from }
  }
  return { kind: 'inside', step: first }
}

/** The steps that contain a step, innermost first. */
export function* around({ parent }: LintStep): Iterable<LintStep> {
  for (let at = parent; at; at = at.parent) yield at
}

/** The innermost loop or map that contains a step. */
export function bodyAround(step: LintStep): LintStep | undefined {
  for (const outer of around(step)) if (outer.kind === 'loop' || outer.kind === 'map') return outer
  return undefined
}

/** All steps inside a step, at any depth. */
export function* within(step: LintStep): Iterable<LintStep> {
  for (const inner of step.inside) {
    yield inner
    yield* within(inner)
  }
}
