/** V-C2: gives the output a member of its own, and lets templates read that. */
import type { Edit } from '../../base/issue.ts'
import { keysWritten, sinkOf } from '../context-writes.ts'
import { entryOf, type LintStep, type LintView } from '../lint-view.ts'
import type { Fixer } from '../rule.ts'
import { contextOf } from '../step-schema.ts'
import { setEntry } from '../yaml-edits.ts'

export const fixC2: Fixer = {
  rule: 'V-C2',
  title: 'gives the output a member of its own',
  fix(view, { step }) {
    const key = step && sinkOf(step)
    if (!step || key === undefined) return { cannot: 'it is about no step' }
    // Steps that write the same member go on doing so: the last one wins.
    const writers = view.steps.filter((each) => sinkOf(each) === key)
    if (writers.some(isShared)) return { cannot: 'the step is shared through an alias' }
    if (view.steps.some((each) => sinkOf(each)?.startsWith(`${key}.`)))
      return { cannot: `other steps write into "${key}"; mend those first` }
    if (writers.length > 1 && !key.includes('.'))
      return { cannot: `several steps write "${key}"; choose a name for each` }
    const name = freeMember(view, step, key)
    if (name === undefined) return { cannot: 'no name for the member is free; choose one' }
    const reading = readersOf(view, key)
    // Of the map that the file gives, nobody can tell whether its readers mean it or the output.
    if (Object.hasOwn(contextOf(view), key) && reading.count > 0)
      return { cannot: `templates read context.${key}, which the file gives too` }
    if (reading.count !== reading.edits.length)
      return { cannot: `context.${key} is also named outside of templates, or in an unusual way` }
    const edits = reading.edits.map(({ span }): Edit => ({ span, text: `context.${name}` }))
    const source = view.document.source
    const sinks = writers.map(({ node }) => setEntry(source, node, { key: 'sink_to', value: name }))
    return {
      edits: [...sinks, ...edits],
      alsoChanges: [...writers, ...reading.edits.map((edit) => edit.step)].map(({ label }) => label),
    }
  },
}

function isShared({ node }: LintStep): boolean {
  const entry = entryOf(node, 'sink_to')
  return (
    node.alias !== undefined ||
    entry?.merged === true ||
    entry?.value.alias !== undefined ||
    entry?.value.anchor !== undefined
  )
}

interface Readers {
  readonly edits: readonly { readonly span: Edit['span']; readonly step: LintStep }[]
  /** How often the file has the words, wherever they stand. */
  readonly count: number
}

function readersOf({ steps, document: { source } }: LintView, key: string): Readers {
  const words = `context.${key}`
  const found = new Map<number, LintStep>()
  for (const step of steps) {
    for (const { text, span } of step.marks.flatMap(({ references }) => references))
      if (text === words || text.startsWith(`${words}.`)) found.set(span[0], step)
  }
  let count = 0
  for (let at = source.text.indexOf(words); at >= 0; at = source.text.indexOf(words, at + 1)) {
    const isWhole = !/^[\w-]/.test(source.text.slice(at + words.length, at + words.length + 1))
    // `sink_to: context.KEY` is what is being mended.
    const isSink = /sink_?to["']?\s*:\s*["']?$/i.test(source.text.slice(Math.max(0, at - 20), at))
    if (isWhole && !isSink) count++
  }
  return {
    count,
    edits: [...found].map(([start, step]) => ({ span: [start, start + words.length], step })),
  }
}

/** The last part of the path, the path in one word, or the name of the step, whichever nobody else has. */
function freeMember(view: LintView, step: LintStep, key: string): string | undefined {
  const taken = new Set([
    ...Object.keys(contextOf(view)),
    ...view.steps.flatMap((each) => (sinkOf(each) === key ? [] : keysWritten(view, each))),
  ])
  const parts = key.split('.')
  const wanted = parts.length > 1 ? [parts.at(-1) ?? '', parts.join('_')] : []
  return [...wanted, step.label, `${step.label}_output`].find(
    (name) => /^[A-Za-z_]\w*$/.test(name) && !taken.has(name) && name !== 'context' && name !== 'scratchpad',
  )
}
