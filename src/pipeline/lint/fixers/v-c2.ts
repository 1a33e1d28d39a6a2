/** V-C2: writes the output to a member of its own, and changes the templates that read it. */
import type { Edit } from '../../../base/errors/issue.ts'
import { setEntry } from '../../yaml/yaml-edits.ts'
import type { Fixer } from '../rule.ts'
import { contextIndex, prefixes } from '../view/context-index.ts'
import { sinkOf } from '../view/context-writes.ts'
import { entryOf, type LintStep, type LintView } from '../view/lint-view.ts'
import { perView } from '../view/per-view.ts'
import { contextOf } from '../view/step-schema.ts'

export const fixC2: Fixer = {
  rule: 'V-C2',
  title: 'gives the output a member of its own',
  fix(view, { step }) {
    const key = step && sinkOf(step)
    if (!step || key === undefined) return { cannot: 'it is about no step' }
    const index = contextIndex(view)
    // Steps that write the same member keep doing so: the last one wins.
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

/** The reason why only the author can fix it. */
function hindrance(view: LintView, key: string, { writers, isRead }: Sink): string | undefined {
  if (!/^[\w-]+(\.[\w-]+)*$/.test(key)) return 'it is written in an unusual way'
  if (pathsAbove(view).has(key)) return `other steps write into "${key}"; mend those first`
  if (writers.length > 1 && !key.includes('.')) return `several steps write "${key}"; choose a name for each`
  if (writers.some(isShared)) return 'the step is shared through an alias'
  // When the file also gives the member, it is unknown whether readers mean that value or the output.
  if (Object.hasOwn(contextOf(view), key) && isRead)
    return `templates read context.${key}, which the file gives too`
  return undefined
}

/** Paths that are proper prefixes of other sink paths. */
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

/** Returns the first free name of: the last part of the path, the path joined by underscores, the name of the step. */
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
