/** V-C1: declares an object output as mergeable, or inserts a step that wraps any other output into an object. */

import { setEntry } from '../../yaml/yaml-edits.ts'
import type { Fixer } from '../rule.ts'
import { entryOf, plainAt } from '../view/lint-view.ts'
import { outputKind } from '../view/output-kind.ts'
import { keepOutput } from './wrapper-step.ts'

export const fixC1: Fixer = {
  rule: 'V-C1',
  title: 'puts a step with wrap_dict behind it, or says sink_to',
  fix(view, { step }) {
    if (!step) return { cannot: 'it is about no step' }
    const { source } = view.document
    if (outputKind(step) === 'object' && plainAt(step.node, 'mergeable_output') === false) {
      if (step.node.alias) return { cannot: 'the step is shared through an alias' }
      return { edits: [setEntry(source, step.node, { key: 'mergeable_output', value: 'true' })] }
    }
    if (step.node.alias) return { cannot: 'the step is shared through an alias' }
    const stop = setEntry(source, step.node, { key: 'updates_context', value: 'false' })
    if (entryOf(step.node, 'sink_to')) return { edits: [stop] }
    const kept = keepOutput(view, step)
    return 'cannot' in kept ? kept : { ...kept, edits: [stop, ...kept.edits] }
  },
}
