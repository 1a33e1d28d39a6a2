/** V-A5: puts the output where later steps find it: into the context, as an object. */
import { isObject } from '../../base/json.ts'
import { membersOf } from '../../schema/members.ts'
import { isTaken } from '../context-index.ts'
import { type LintStep, type LintView, plainAt } from '../lint-view.ts'
import { outputKind } from '../output-kind.ts'
import type { Fixer } from '../rule.ts'
import { outputSchema } from '../step-schema.ts'
import { setEntry } from '../yaml-edits.ts'
import { keepOutput } from './wrapper-step.ts'

export const fixA5: Fixer = {
  rule: 'V-A5',
  title: 'puts the output into the context',
  fix(view, { step }) {
    if (!step) return { cannot: 'it is about no step' }
    const merges = outputKind(step) === 'object' && plainAt(step.node, 'mergeable_output') !== false
    // Branches side by side must not write the same members: there the output gets a name of its own.
    if (!merges || isBesideOthers(step) || overwrites(view, step)) return keepOutput(view, step)
    if (step.node.alias) return { cannot: 'the step is shared through an alias' }
    return { edits: [setEntry(view.document.source, step.node, { key: 'updates_context', value: 'true' })] }
  },
}

/** Members that the context has already would get another value for everybody who reads them. */
function overwrites(view: LintView, step: LintStep): boolean {
  const schema = outputSchema(view, step)
  return isObject(schema) && membersOf(schema).some(({ name }) => isTaken(view, name))
}

function isBesideOthers(step: LintStep): boolean {
  for (let at = step.parent; at; at = at.parent) if (at.kind === 'parallel') return true
  return false
}
