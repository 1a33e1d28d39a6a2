/** Who writes and who reads the members of the context, gathered once. */
import { keysWritten, sinkOf } from './context-writes.ts'
import type { LintStep, LintView } from './lint-view.ts'
import { perView } from './per-view.ts'
import { contextOf } from './step-schema.ts'

export interface ContextIndex {
  /** The steps by what their `sink_to` names. */
  readonly sinks: ReadonlyMap<string, readonly LintStep[]>
  /** For each member that is written, the `sink_to` of those who write it; empty for those without one. */
  readonly writers: ReadonlyMap<string, ReadonlySet<string>>
  /** The templates that read a member or a path below it, by the path. */
  readonly readers: ReadonlyMap<string, readonly Reader[]>
  /** How often the file has `context.PATH`, or a path below it, wherever it stands. */
  readonly mentions: ReadonlyMap<string, number>
}

export interface Reader {
  readonly start: number
  readonly step: LintStep
}

/** `context.a.b` as templates and conditions write it. */
const path = /\bcontext\.([\w-]+(?:\.[\w-]+)*)/g

export const contextIndex = perView((view): ContextIndex => {
  const sinks = new Map<string, LintStep[]>()
  const writers = new Map<string, Set<string>>()
  const readers = new Map<string, Reader[]>()
  const mentions = new Map<string, number>()
  for (const step of view.steps) {
    const sink = sinkOf(step)
    if (sink !== undefined) put(sinks, sink, step)
    for (const key of keysWritten(view, step))
      writers.set(key, (writers.get(key) ?? new Set()).add(sink ?? ''))
    for (const { text, span } of step.marks.flatMap(({ references }) => references)) {
      const [found] = text.matchAll(path)
      if (found?.index !== 0) continue
      for (const key of prefixes(found[1] ?? '')) put(readers, key, { start: span[0], step })
    }
  }
  const { text } = view.document.source
  for (const found of text.matchAll(path)) {
    // `sink_to: context.KEY` writes.
    if (/sink_?to["']?\s*:\s*["']?$/i.test(text.slice(Math.max(0, found.index - 20), found.index))) continue
    for (const key of prefixes(found[1] ?? '')) mentions.set(key, (mentions.get(key) ?? 0) + 1)
  }
  return { sinks, writers, readers, mentions }
})

/** Does the context have such a member before anything is mended? To write it would change what its readers get. */
export function isTaken(view: LintView, member: string): boolean {
  return Object.hasOwn(contextOf(view), member) || contextIndex(view).writers.has(member)
}

/** A name for a member that nobody has. */
export function freeMember(view: LintView, wanted: string): string {
  if (!isTaken(view, wanted)) return wanted
  let name = `${wanted}_output`
  for (let count = 2; isTaken(view, name); count++) name = `${wanted}_output_${count}`
  return name
}

/** `a.b.c` is also something below `a` and below `a.b`. */
export function prefixes(dotted: string): readonly string[] {
  const parts = dotted.split('.')
  return parts.map((_, index) => parts.slice(0, index + 1).join('.'))
}

function put<T>(map: Map<string, T[]>, key: string, value: T): void {
  const there = map.get(key)
  if (there) there.push(value)
  else map.set(key, [value])
}
