/** V-C1: says that an object is one, or puts a step behind that makes an object of what is none. */
import { plainAt } from '../lint-view.ts'
import { outputKind } from '../output-kind.ts'
import type { Fixer } from '../rule.ts'
import { setEntry } from '../yaml-edits.ts'
import { keepOutput } from './wrapper-step.ts'

export const fixC1: Fixer = {
  rule: 'V-C1',
  title: 'puts a step with wrap_dict behind it',
  fix(view, { step }) {
    if (!step) return { cannot: 'it is about no step' }
    const { source } = view.document
    if (outputKind(step) === 'object' && plainAt(step.node, 'mergeable_output') === false) {
      if (step.node.alias) return { cannot: 'the step is shared through an alias' }
      return { edits: [setEntry(source, step.node, { key: 'mergeable_output', value: 'true' })] }
    }
    const wrapped = keepOutput(view, step)
    if ('cannot' in wrapped) return wrapped
    return {
      edits: [setEntry(source, step.node, { key: 'updates_context', value: 'false' }), ...wrapped.edits],
    }
  },
}
