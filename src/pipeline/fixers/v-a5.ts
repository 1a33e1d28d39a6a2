/** V-A5: puts the output where later steps find it: into the context, as an object. */
import { type LintStep, plainAt } from '../lint-view.ts'
import { outputKind } from '../output-kind.ts'
import type { Fixer } from '../rule.ts'
import { setEntry } from '../yaml-edits.ts'
import { keepOutput } from './wrapper-step.ts'

export const fixA5: Fixer = {
  rule: 'V-A5',
  title: 'puts the output into the context',
  fix(view, { step }) {
    if (!step) return { cannot: 'it is about no step' }
    const merges = outputKind(step) === 'object' && plainAt(step.node, 'mergeable_output') !== false
    // Branches side by side must not write the same members: there the output gets a name of its own.
    if (!merges || isBesideOthers(step)) return keepOutput(view, step)
    if (step.node.alias) return { cannot: 'the step is shared through an alias' }
    return { edits: [setEntry(view.document.source, step.node, { key: 'updates_context', value: 'true' })] }
  },
}

function isBesideOthers(step: LintStep): boolean {
  for (let at = step.parent; at; at = at.parent) if (at.kind === 'parallel') return true
  return false
}
