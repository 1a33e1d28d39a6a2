/** Finds members of the context that two branches of a parallel step write. */
import { inBranches, mergedBy, sinkOf } from './context-writes.ts'
import type { LintStep, LintView } from './lint-view.ts'

interface Conflict {
  readonly key: string
  readonly step: LintStep
  /** The first step that writes it, in another branch. */
  readonly other: LintStep
  /** Both use `sink_to`. */
  readonly explicit: boolean
}

interface Write {
  readonly step: LintStep
  readonly branch: LintStep['sequence']
  readonly explicit: boolean
}

export function* conflictsIn(view: LintView): Iterable<Conflict> {
  for (const parallel of view.steps) {
    if (parallel.kind !== 'parallel') continue
    const first = new Map<string, Write>()
    for (const { inner, branch } of inBranches(parallel)) {
      const sink = sinkOf(inner)
      const keys = new Set([...(sink === undefined ? [] : [sink]), ...(mergedBy(view, inner) ?? [])])
      for (const key of keys) {
        const write = { step: inner, branch, explicit: key === sink }
        const other = first.get(key)
        if (other === undefined) first.set(key, write)
        else if (other.branch !== branch)
          yield { key, step: inner, other: other.step, explicit: write.explicit && other.explicit }
      }
    }
  }
}
