/** The edges of a draft as a graph: topological order, ancestors, cycles, depth. Nodes are identified by their ids. */
import type { PlanEdge } from '../../domain/plan.ts'

export interface Graph {
  readonly edges: readonly PlanEdge[]
  /** Topological order; nodes on a cycle come last, in the order of the draft. */
  readonly order: readonly string[]
  /** Nodes that depend on each other. */
  readonly circle: readonly string[]
  readonly incoming: ReadonlyMap<string, readonly PlanEdge[]>
  readonly outgoing: ReadonlyMap<string, readonly PlanEdge[]>
  ancestors(id: string): ReadonlySet<string>
  /** Number of nodes on the longest path. */
  readonly depth: number
}

export function createGraph(ids: readonly string[], edges: readonly PlanEdge[]): Graph {
  const incoming = groupBy(edges, (edge) => edge.to)
  const outgoing = groupBy(edges, (edge) => edge.from)
  const { order, circle, depth } = sort(ids, { incoming, outgoing })
  const known = new Map<string, ReadonlySet<string>>()
  return {
    edges,
    order,
    circle,
    incoming,
    outgoing,
    depth,
    ancestors(id) {
      let found = known.get(id)
      if (found === undefined) {
        found = reach(id, incoming)
        known.set(id, found)
      }
      return found
    },
  }
}

function groupBy(edges: readonly PlanEdge[], key: (edge: PlanEdge) => string): Map<string, PlanEdge[]> {
  const groups = new Map<string, PlanEdge[]>()
  for (const edge of edges) {
    const group = groups.get(key(edge))
    if (group === undefined) groups.set(key(edge), [edge])
    else group.push(edge)
  }
  return groups
}

type Links = Pick<Graph, 'incoming' | 'outgoing'>

function sort(ids: readonly string[], { incoming, outgoing }: Links) {
  const waiting = new Map(ids.map((id) => [id, incoming.get(id)?.length ?? 0]))
  const level = new Map<string, number>()
  const order = ids.filter((id) => waiting.get(id) === 0)
  for (const id of order) {
    const here = level.get(id) ?? 1
    for (const { to } of outgoing.get(id) ?? []) {
      level.set(to, Math.max(level.get(to) ?? 1, here + 1))
      const left = (waiting.get(to) ?? 0) - 1
      waiting.set(to, left)
      if (left === 0) order.push(to)
    }
  }
  const sorted = new Set(order)
  const rest = ids.filter((id) => !sorted.has(id))
  const inCircle = rest.filter((id) => reach(id, incoming).has(id))
  const depth = order.reduce((most, id) => Math.max(most, level.get(id) ?? 1), 0)
  return { order: [...order, ...rest], circle: inCircle, depth }
}

/** Returns all ancestors of a node; the node itself only if it is on a cycle. */
function reach(id: string, incoming: Graph['incoming']): Set<string> {
  const found = new Set<string>()
  const stack = [id]
  for (let at = stack.pop(); at !== undefined; at = stack.pop()) {
    for (const { from } of incoming.get(at) ?? []) {
      if (found.has(from)) continue
      found.add(from)
      stack.push(from)
    }
  }
  return found
}
