/** V-C2: gives the output a member of its own, and lets templates read that. */
import type { Edit } from '../../base/issue.ts'
import { contextIndex, prefixes } from '../context-index.ts'
import { sinkOf } from '../context-writes.ts'
import { entryOf, type LintStep, type LintView } from '../lint-view.ts'
import { perView } from '../per-view.ts'
import type { Fixer } from '../rule.ts'
import { contextOf } from '../step-schema.ts'
import { setEntry } from '../yaml-edits.ts'

export const fixC2: Fixer = {
  rule: 'V-C2',
  title: 'gives the output a member of its own',
  fix(view, { step }) {
    const key = step && sinkOf(step)
    if (!step || key === undefined) return { cannot: 'it is about no step' }
    const index = contextIndex(view)
    // Steps that write the same member go on doing so: the last one wins.
    const writers = index.sinks.get(key) ?? []
    const [first = step] = writers
    if (first !== step && key.includes('.')) return { cannot: `it is mended together with "${first.label}"` }
    const readers = index.readers.get(key) ?? []
    const cannot = hindrance(view, key, { writers, isRead: readers.length > 0 })
    if (cannot !== undefined) return { cannot }
    if ((index.mentions.get(key) ?? 0) !== readers.length)
      return { cannot: `context.${key} is also named outside of templates, or in an unusual way` }
    const name = freeMember(view, step, key)
    if (name === undefined) return { cannot: 'no name for the member is free; choose one' }
    const { source } = view.document
    const length = `context.${key}`.length
    return {
      edits: [
        ...writers.map(({ node }) => setEntry(source, node, { key: 'sink_to', value: name })),
        ...readers.map(({ start }): Edit => ({ span: [start, start + length], text: `context.${name}` })),
      ],
      alsoChanges: [...writers, ...readers.map((reader) => reader.step)].map(({ label }) => label),
    }
  },
}

interface Sink {
  readonly writers: readonly LintStep[]
  readonly isRead: boolean
}

/** Why only the author can mend it. */
function hindrance(view: LintView, key: string, { writers, isRead }: Sink): string | undefined {
  if (!/^[\w-]+(\.[\w-]+)*$/.test(key)) return 'it is written in an unusual way'
  if (pathsAbove(view).has(key)) return `other steps write into "${key}"; mend those first`
  if (writers.length > 1 && !key.includes('.')) return `several steps write "${key}"; choose a name for each`
  if (writers.some(isShared)) return 'the step is shared through an alias'
  // Of the map that the file gives, nobody can tell whether its readers mean it or the output.
  if (Object.hasOwn(contextOf(view), key) && isRead)
    return `templates read context.${key}, which the file gives too`
  return undefined
}

/** What the paths of others go through. */
const pathsAbove = perView(
  (view) => new Set([...contextIndex(view).sinks.keys()].flatMap((key) => prefixes(key).slice(0, -1))),
)

function isShared({ node }: LintStep): boolean {
  const entry = entryOf(node, 'sink_to')
  return (
    node.alias !== undefined ||
    entry?.merged === true ||
    entry?.value.alias !== undefined ||
    entry?.value.anchor !== undefined
  )
}

/** The last part of the path, the path in one word, or the name of the step, whichever nobody else has. */
function freeMember(view: LintView, step: LintStep, key: string): string | undefined {
  const context = contextOf(view)
  const { writers } = contextIndex(view)
  const isTaken = (name: string) =>
    Object.hasOwn(context, name) || [...(writers.get(name) ?? [])].some((sink) => sink !== key)
  const parts = key.split('.')
  const wanted = parts.length > 1 ? [parts.at(-1) ?? '', parts.join('_')] : []
  return [...wanted, step.label, `${step.label}_output`].find(
    (name) => /^[A-Za-z_]\w*$/.test(name) && !isTaken(name) && name !== 'context' && name !== 'scratchpad',
  )
}
