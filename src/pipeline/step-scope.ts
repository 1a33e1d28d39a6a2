/** Which steps a template can name from where it stands: those before it, and those before the steps around it. */
import type { LintStep, LintView } from './lint-view.ts'
import { perView } from './per-view.ts'

/** Why a name leads where it leads. */
export type Named =
  | { readonly kind: 'seen'; readonly step: LintStep }
  /** It is there, but its turn comes later, in this list or in one around it. */
  | { readonly kind: 'later'; readonly step: LintStep; readonly from: LintStep }
  /** It stands inside another step, which does not show it. */
  | { readonly kind: 'inside'; readonly step: LintStep }
  | { readonly kind: 'unknown' }

/** All steps by the name that templates have for them. */
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
  // The innermost list wins, as it does when the pipeline is compiled.
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

/** The steps around a step, the innermost first. */
export function* around({ parent }: LintStep): Iterable<LintStep> {
  for (let at = parent; at; at = at.parent) yield at
}

/** The innermost loop or map that a step stands in. */
export function bodyAround(step: LintStep): LintStep | undefined {
  for (const outer of around(step)) if (outer.kind === 'loop' || outer.kind === 'map') return outer
  return undefined
}

/** All steps inside a step, however deep. */
export function* within(step: LintStep): Iterable<LintStep> {
  for (const inner of step.inside) {
    yield inner
    yield* within(inner)
  }
}
