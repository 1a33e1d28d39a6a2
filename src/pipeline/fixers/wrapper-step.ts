/** A step that makes an object of the output before it and puts it into the context: what V-C1 and V-A5 insert. */
import type { Edit } from '../../base/issue.ts'
import { entryOf, type LintStep, type LintView } from '../lint-view.ts'
import type { Mend } from '../rule.ts'
import { isPrevious } from '../step-uses.ts'
import { outputOfStep } from '../template-words.ts'
import { addEntries, addItem } from '../yaml-edits.ts'

/** Where no step can be put in, the whole output becomes one member of the context. */
export function keepOutput(view: LintView, step: LintStep): Mend {
  // Behind the last step nothing may stand: its output is the answer.
  const isLast = step.sequence[step.index + 1] === undefined
  const wrapped: Mend = isLast ? { cannot: 'it is the last step, and has no name' } : wrapOutput(view, step)
  if ('edits' in wrapped || step.node.alias || step.name === undefined) return wrapped
  if (entryOf(step.node, 'sink_to') || !/^[A-Za-z_]\w*$/.test(step.name)) return wrapped
  const entries = [{ key: 'sink_to', value: step.name }]
  return {
    edits: [addEntries(view.document.source, step.node, { entries, behind: ['agent', 'uses', 'name'] })],
  }
}

function wrapOutput(view: LintView, step: LintStep): Mend {
  const { source } = view.document
  if (!step.list || step.node.alias) return { cannot: 'the step does not stand in a list of its own' }
  const output = step.name === undefined ? undefined : outputOfStep(step.name)
  if (step.name === undefined || output === undefined)
    return { cannot: 'templates cannot name the step; give it a name of letters, digits, - and _' }
  if (isCounted(view, step)) return { cannot: 'templates name later steps by their number' }
  const kept = keepInput(view, step, output)
  if ('cannot' in kept) return kept
  const entries = [
    { key: 'name', value: freeName(view, `${step.name}_object`) },
    { key: 'uses', value: 'wrap_dict' },
    { key: 'input', value: `"{{ ${output} }}"` },
    { key: 'params', value: [{ key: 'key', value: step.name }] },
    { key: 'updates_context', value: 'true' },
  ]
  return { edits: [...kept.edits, addItem(source, step.list, { after: step.node, entries })] }
}

/** Steps without a name are called by their number, which a new step before them would change. */
function isCounted({ document: { source } }: LintView, { sequence, index }: LintStep): boolean {
  return sequence
    .slice(index + 1)
    .some(({ name, label }) => name === undefined && source.text.includes(label))
}

/** The step behind goes on getting what it got, although another step now stands before it. */
function keepInput(view: LintView, step: LintStep, output: string): Mend {
  const { source } = view.document
  const next = step.sequence[step.index + 1]
  if (!next) return { edits: [] }
  if (next.kind !== 'step' && next.kind !== 'hitl')
    return { cannot: `"${next.label}" takes its output, and is no plain step` }
  if (next.node.alias) return { cannot: `"${next.label}" is shared through an alias` }
  const previous = next.marks
    .flatMap(({ references }) => references)
    .filter(({ text }) => isPrevious(text))
    .map(({ span: [start] }) => start)
  if (isSharedInput(view, next, previous))
    return { cannot: `the input of "${next.label}" is shared through an alias` }
  const edits: Edit[] = previous.map((start) => ({
    span: [start, start + 'previous_step'.length],
    text: output,
  }))
  if (next.kind === 'step' && entryOf(next.node, 'input') === undefined) {
    const input = [{ key: 'input', value: `"{{ ${output} }}"` }]
    edits.push(addEntries(source, next.node, { entries: input, behind: ['agent', 'uses', 'name'] }))
  }
  return { edits }
}

function isSharedInput({ steps }: LintView, next: LintStep, places: readonly number[]): boolean {
  return steps.some(
    (step) =>
      step !== next &&
      step.marks.some(({ references }) => references.some(({ span: [start] }) => places.includes(start))),
  )
}

function freeName({ steps }: LintView, wanted: string): string {
  const taken = new Set(steps.map(({ name }) => name))
  let name = wanted
  for (let count = 2; taken.has(name); count++) name = `${wanted}_${count}`
  return name
}
