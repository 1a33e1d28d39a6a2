/** Memoises a computation per view, for facts that several rules need. */
import type { LintView } from './lint-view.ts'

export function perView<T>(make: (view: LintView) => T): (view: LintView) => T {
  const made = new WeakMap<LintView, { readonly value: T }>()
  return (view) => {
    const known = made.get(view) ?? { value: make(view) }
    made.set(view, known)
    return known.value
  }
}
