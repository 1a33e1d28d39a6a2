/** Computes what steps write into the context, as far as the file declares it, and where two branches of a parallel step write the same member. */
import type { TextRange } from '../../../base/errors/issue.ts'
import { isObject } from '../../../base/json.ts'
import { listMembers } from '../../../schema/build/project.ts'
import { findEntry, type LintStep, type LintView, textAt } from './lint-view.ts'
import { updatesContext } from './output-kind.ts'
import { outputSchema } from './step-schema.ts'
import { within } from './step-scope.ts'

/** The path in the context that the whole output is written to. */
export function getSinkPath({ node }: LintStep): string | undefined {
  return textAt(node, 'sink_to')?.replace(/^context\./, '')
}

/**
 * Members that a step merges into the context; `undefined` where they are not known. Does not check that the
 * merge can succeed.
 */
export function mergedBy(view: LintView, step: LintStep): readonly string[] | undefined {
  if (!updatesContext(step)) return []
  const schema = outputSchema(view, step)
  if (!isObject(schema)) return undefined
  const names = listMembers(schema).map(({ name }) => name)
  return names.length > 0 ? names : undefined
}

export function keysWritten(view: LintView, step: LintStep): readonly string[] {
  const sink = getSinkPath(step)
  return [...new Set([...(sink === undefined ? [] : [sink]), ...(mergedBy(view, step) ?? [])])]
}

/** Yields each step of the branches of a step, at any depth, with its branch. */
export function* inBranches(
  step: LintStep,
): Iterable<{ readonly inner: LintStep; readonly branch: LintStep['sequence'] }> {
  for (const first of step.inside) {
    yield { inner: first, branch: first.sequence }
    for (const inner of within(first)) yield { inner, branch: first.sequence }
  }
}

/** Range of the key by which a step writes to the context. */
export function findWriteRange({ node }: LintStep, key: 'sink_to' | 'updates_context'): TextRange {
  const entry = findEntry(node, key)
  return entry && !entry.merged && !node.alias ? entry.keyRange : (node.alias ?? node.range)
}

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

/** Finds members of the context that two branches of a parallel step write. */
export function* conflictsIn(view: LintView): Iterable<Conflict> {
  for (const parallel of view.steps) {
    if (parallel.kind !== 'parallel') continue
    const first = new Map<string, Write>()
    for (const { inner, branch } of inBranches(parallel)) {
      const sink = getSinkPath(inner)
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
