/** Index of the writers and readers of context members, built once per view. */
import { getSinkPath, keysWritten } from './context-writes.ts'
import type { LintStep, LintView } from './lint-view.ts'
import { perView } from './lint-view.ts'
import { getInitialContext } from './step-schema.ts'

interface ContextIndex {
  /** Steps by the path of their `sink_to`. */
  readonly sinks: ReadonlyMap<string, readonly LintStep[]>
  /** For each member written, the `sink_to` paths of its writers; '' for a writer without one. */
  readonly writers: ReadonlyMap<string, ReadonlySet<string>>
  /** Templates that read a path or something below it, by path. */
  readonly readers: ReadonlyMap<string, readonly Reader[]>
  /** Number of occurrences of `context.PATH`, or of a path below it, anywhere in the file. */
  readonly mentions: ReadonlyMap<string, number>
}

interface Reader {
  readonly start: number
  readonly step: LintStep
}

/** Matches `context.a.b` in templates and conditions. */
const path = /\bcontext\.([\w-]+(?:\.[\w-]+)*)/g

export const contextIndex = perView((view): ContextIndex => {
  const sinks = new Map<string, LintStep[]>()
  const writers = new Map<string, Set<string>>()
  const readers = new Map<string, Reader[]>()
  const mentions = new Map<string, number>()
  for (const step of view.steps) {
    const sink = getSinkPath(step)
    if (sink !== undefined) put(sinks, sink, step)
    for (const key of keysWritten(view, step))
      writers.set(key, (writers.get(key) ?? new Set()).add(sink ?? ''))
    for (const { text, range } of step.marks.flatMap(({ references }) => references)) {
      const [found] = text.matchAll(path)
      if (found?.index !== 0) continue
      for (const key of prefixes(found[1] ?? '')) put(readers, key, { start: range[0], step })
    }
  }
  const { text } = view.document.source
  for (const found of text.matchAll(path)) {
    // `sink_to: context.KEY` is a write, not a read.
    if (/sink_?to["']?\s*:\s*["']?$/i.test(text.slice(Math.max(0, found.index - 20), found.index))) continue
    for (const key of prefixes(found[1] ?? '')) mentions.set(key, (mentions.get(key) ?? 0) + 1)
  }
  return { sinks, writers, readers, mentions }
})

/** Does the context already have this member? Writing it would change what its readers get. */
export function isTaken(view: LintView, member: string): boolean {
  return Object.hasOwn(getInitialContext(view), member) || contextIndex(view).writers.has(member)
}

/** Returns a name that no member of the context has. */
export function freeMember(view: LintView, wanted: string): string {
  if (!isTaken(view, wanted)) return wanted
  let name = `${wanted}_output`
  for (let count = 2; isTaken(view, name); count++) name = `${wanted}_output_${count}`
  return name
}

/** Returns `a`, `a.b` and `a.b.c` for `a.b.c`. */
export function prefixes(dotted: string): readonly string[] {
  const parts = dotted.split('.')
  return parts.map((_, index) => parts.slice(0, index + 1).join('.'))
}

function put<T>(map: Map<string, T[]>, key: string, value: T): void {
  const there = map.get(key)
  if (there) there.push(value)
  else map.set(key, [value])
}
