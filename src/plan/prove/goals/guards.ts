/**
 * Finds validation nodes at which the engine can evaluate a constraint (rule 5): they run after everything that the
 * constraint reads, and read or supply part of it. Every execution path must contain one.
 */
import { tokens } from '../../../base/pointer.ts'
import type { Source } from '../../../domain/plan.ts'
import type { Path } from '../../../schema/values/schema-values.ts'
import type { Resolved, ResolvedNode, Slot } from '../proof-request.ts'
import { nodesIn } from '../sources.ts'
import { slotFor } from './answer-values.ts'

/** Returns the guards; empty if some path through the plan has none. */
export function guardsOf(paths: readonly Path[], resolved: Resolved): readonly string[] {
  const slots = [...new Set(paths.flatMap((path) => slotFor(path, resolved) ?? []))]
  const candidates = resolved.nodes.filter((node) => node.kind === 'validation' && readsAny(node, slots))
  const found = new Set<string>()
  const sources = nodesIn(slots.flatMap((slot) => slot.sources))
  const asked = [...sources, ...candidates.map(({ id }) => id)]
  for (const { completed, complete } of resolved.scenarios.over(asked)) {
    const live = complete ? sources.filter((id) => completed.has(id)) : sources
    const guards = candidates.filter(({ id }) => {
      const before = resolved.graph.ancestors(id)
      return completed.has(id) && live.every((source) => source === id || before.has(source))
    })
    if (guards.length === 0 || live.length === 0) return []
    for (const { id } of guards) found.add(id)
  }
  return [...found]
}

function readsAny(node: ResolvedNode, slots: readonly Slot[]): boolean {
  const wanted = slots.flatMap((slot) => slot.sources)
  const supplies = wanted.some((source) => 'node' in source && source.node === node.id)
  const read = Object.values(node.inputs).flat()
  return supplies || read.some((source) => wanted.some((other) => overlap(source, other)))
}

/** Whether both sources read overlapping parts of the same output. */
function overlap(a: Source, b: Source): boolean {
  if (!('node' in a) || !('node' in b) || a.node !== b.node) return false
  const [left, right] = [tokens(a.pointer ?? ''), tokens(b.pointer ?? '')]
  return left.every((token, i) => i >= right.length || right[i] === token)
}
