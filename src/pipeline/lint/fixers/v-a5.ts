/** V-A5: puts the output into the context as an object, where later steps find it. */
import { isObject } from '../../../base/json.ts'
import { membersOf } from '../../../schema/build/members.ts'
import { setEntry } from '../../yaml/yaml-edits.ts'
import type { Fixer } from '../rule.ts'
import { isTaken } from '../view/context-index.ts'
import { type LintStep, type LintView, plainAt } from '../view/lint-view.ts'
import { outputKind } from '../view/output-kind.ts'
import { outputSchema } from '../view/step-schema.ts'
import { keepOutput } from './wrapper-step.ts'

export const fixA5: Fixer = {
  rule: 'V-A5',
  title: 'puts the output into the context',
  fix(view, { step }) {
    if (!step) return { cannot: 'it is about no step' }
    const merges = outputKind(step) === 'object' && plainAt(step.node, 'mergeable_output') !== false
    // Parallel branches must not write the same members: there the output gets a member of its own.
    if (!merges || isBesideOthers(step) || overwrites(view, step)) return keepOutput(view, step)
    if (step.node.alias) return { cannot: 'the step is shared through an alias' }
    return { edits: [setEntry(view.document.source, step.node, { key: 'updates_context', value: 'true' })] }
  },
}

/** Would merging the output overwrite members that the context already has, and so change what their readers get? */
function overwrites(view: LintView, step: LintStep): boolean {
  const schema = outputSchema(view, step)
  return isObject(schema) && membersOf(schema).some(({ name }) => isTaken(view, name))
}

function isBesideOthers(step: LintStep): boolean {
  for (let at = step.parent; at; at = at.parent) if (at.kind === 'parallel') return true
  return false
}
