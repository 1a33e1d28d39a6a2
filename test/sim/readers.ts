/**
 * Nodes that read from nodes inside and across branches, besides their predecessors: to some no control edge leads at
 * all. Some have nothing else to fall back on, and are skipped with what they read.
 */
import type { Binding, Draft, DraftNode, Source } from '../../src/domain/plan.ts'
import type { Random } from './random.ts'

export function withReaders(random: Random, draft: Draft): Draft {
  const { nodes, edges = [] } = draft
  const targets = new Set(
    nodes.flatMap(({ routing }) =>
      [...(routing?.routes.map(({ to }) => to) ?? []), routing?.elseTo ?? []].flat(),
    ),
  )
  const readers = new Map<string, DraftNode>()
  const free = new Set<string>()
  for (const [index, node] of nodes.entries()) {
    if (index === 0 || node.routing || !random.chance(0.6)) continue
    const { a: _, ...others } = node.inputs ?? {}
    readers.set(node.id, { ...node, inputs: { ...others, a: readFrom(random, nodes.slice(0, index)) } })
    if (!targets.has(node.id) && random.chance(0.6)) free.add(node.id)
  }
  return {
    ...draft,
    nodes: nodes.map((node) => readers.get(node.id) ?? node),
    edges: edges.filter(({ to }) => !free.has(to)),
  }
}

function readFrom(random: Random, earlier: readonly DraftNode[]): Binding {
  const sources = Array.from({ length: random.pick([1, 1, 2]) }, (): Source => {
    const { id, routing } = random.pick(earlier)
    return { node: id, pointer: routing ? '/a' : '/v' }
  })
  return random.chance(0.3) ? [...sources, { envelope: '/inputs/x' }] : sources
}
