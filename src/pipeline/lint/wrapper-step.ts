/**
 * Inserts a step that wraps the previous output into an object and merges it into the context; used by V-C1
 * and V-A5.
 */
import type { Edit } from '../../base/errors/issue.ts'
import { outputOfStep } from '../templates/filters.ts'
import { addEntries, addItem } from '../yaml/yaml-edits.ts'
import type { Fix } from './rule.ts'
import { freeMember } from './view/context-index.ts'
import { findEntry, type LintStep, type LintView, perView } from './view/lint-view.ts'
import { isPrevious } from './view/step-uses.ts'

/** Inserts a wrapper step or, where no step can be inserted, makes the whole output one member of the context. */
export function keepOutput(view: LintView, step: LintStep): Fix {
  // No step may follow the last one: its output is the answer.
  const isLast = step.sequence[step.index + 1] === undefined
  const wrapped: Fix = isLast ? { cannot: 'it is the last step, and has no name' } : wrapOutput(view, step)
  if ('edits' in wrapped || step.node.alias || step.name === undefined) return wrapped
  if (findEntry(step.node, 'sink_to') || !/^[A-Za-z_]\w*$/.test(step.name)) return wrapped
  const entries = [{ key: 'sink_to', value: freeMember(view, step.name) }]
  return {
    edits: [addEntries(view.document.source, step.node, { entries, behind: ['agent', 'uses', 'name'] })],
  }
}

function wrapOutput(view: LintView, step: LintStep): Fix {
  const { source } = view.document
  if (!step.list || step.node.alias) return { cannot: 'the step is not in a list of its own' }
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
    { key: 'params', value: [{ key: 'key', value: freeMember(view, step.name) }] },
    { key: 'updates_context', value: 'true' },
  ]
  const next = step.sequence[step.index + 1]
  return {
    edits: [...kept.edits, addItem(source, step.list, { after: step.node, entries })],
    ...(next && kept.edits.length > 0 && { alsoChanges: [next.label] }),
  }
}

/** Steps without a name are named by their number, which a step inserted before them would change. */
function isCounted(view: LintView, { sequence, index }: LintStep): boolean {
  return (lastCounted(view).get(sequence) ?? -1) > index
}

/** For each sequence, the index of the last step that templates may name by its number. */
const lastCounted = perView(({ steps, document: { source } }) => {
  const said = new Set(Array.from(source.text.matchAll(/step_\d+/g), ([label]) => label))
  const found = new Map<LintStep['sequence'], number>()
  for (const { name, label, sequence, index } of steps)
    if (name === undefined && said.has(label)) found.set(sequence, index)
  return found
})

/** Makes the next step read the same value as before, although the wrapper step now precedes it. */
function keepInput(view: LintView, step: LintStep, output: string): Fix {
  const { source } = view.document
  const next = step.sequence[step.index + 1]
  if (!next) return { edits: [] }
  if (next.kind !== 'step' && next.kind !== 'hitl')
    return { cannot: `"${next.label}" takes its output, and is no plain step` }
  if (next.node.alias) return { cannot: `"${next.label}" is shared through an alias` }
  const previous = next.marks
    .flatMap(({ references }) => references)
    .filter(({ text }) => isPrevious(text))
    .map(({ range: [start] }) => start)
  if (isSharedInput(view, next, previous))
    return { cannot: `the input of "${next.label}" is shared through an alias` }
  const edits: Edit[] = previous.map((start) => ({
    span: [start, start + 'previous_step'.length],
    text: output,
  }))
  if (next.kind === 'step' && findEntry(next.node, 'input') === undefined) {
    const input = [{ key: 'input', value: `"{{ ${output} }}"` }]
    edits.push(addEntries(source, next.node, { entries: input, behind: ['agent', 'uses', 'name'] }))
  }
  return { edits }
}

function isSharedInput(view: LintView, next: LintStep, offsets: readonly number[]): boolean {
  return offsets.some((offset) =>
    readAt(view)
      .get(offset)
      ?.some((step) => step !== next),
  )
}

/** The steps whose templates contain a reference at an offset of the text. */
const readAt = perView(({ steps }) => {
  const found = new Map<number, LintStep[]>()
  for (const step of steps) {
    for (const { range } of step.marks.flatMap(({ references }) => references))
      found.set(range[0], [...(found.get(range[0]) ?? []), step])
  }
  return found
})

const namesTaken = perView(({ steps }) => new Set(steps.map(({ name }) => name)))

function freeName(view: LintView, wanted: string): string {
  const taken = namesTaken(view)
  let name = wanted
  for (let count = 2; taken.has(name); count++) name = `${wanted}_${count}`
  return name
}
