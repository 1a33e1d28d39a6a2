/** Control: edges between nodes, and the routes of routing nodes. */
import type { Random } from '../../sim/random.ts'
import type { CaseEdge, CaseNode, CaseRoute, CaseSource } from '../case.ts'
import type { Features } from './features.ts'

export function makeEdges(random: Random, nodes: readonly CaseNode[], features: Features): CaseEdge[] {
  const edges = new Map<string, CaseEdge>()
  const add = (edge: CaseEdge) => void edges.set(`${edge.from} ${edge.to}`, edge)
  for (const [index, node] of nodes.entries()) {
    if (node.standsInFor !== undefined) {
      // Without an edge of its own a fallback stands in for the node that supplies the same.
      if (random.chance(0.7) || features.shuffled)
        add({ from: node.standsInFor, to: node.id, when: random.chance(0.9) ? 'fail' : 'always' })
      continue
    }
    const parents = random.pick([0, 0, 1, 1, 2])
    for (let nth = 0; nth < parents && index > 0; nth++) {
      const from = nodes[random.int(index)]!
      if (from.role === 'routing') continue
      const when =
        features.fallbacks && random.chance(0.2) ? random.pick(['fail', 'always'] as const) : 'pass'
      add({ from: from.id, to: node.id, when })
    }
  }
  return [...edges.values()]
}

export function withRoutes(random: Random, nodes: readonly CaseNode[]): CaseNode[] {
  const routed = nodes.map((node, index) =>
    node.role === 'routing' ? routedTo(random, node, nodes.slice(index + 1)) : node,
  )
  return withoutIdleRoutes(routed)
}

function routedTo(random: Random, node: CaseNode, later: readonly CaseNode[]): CaseNode {
  const targets = later.filter(({ standsInFor }) => standsInFor === undefined)
  if (targets.length === 0 || node.inputs.length === 0) return node
  const pickTargets = () => [
    ...new Set(Array.from({ length: random.pick([1, 1, 2]) }, () => random.pick(targets).id)),
  ]
  const routes = Array.from({ length: random.pick([1, 1, 2]) }, () => makeRoute(random, node, pickTargets()))
  return { ...node, routes, elseTo: random.chance(0.8) ? pickTargets() : [] }
}

function makeRoute(random: Random, node: CaseNode, to: readonly string[]): CaseRoute {
  const input = random.pick(node.inputs)
  const not = random.chance(0.2)
  if (input.type === 's' || random.chance(0.3))
    // An ordering over a text is false: it never opens a route, and its negation does.
    return { input: input.name, operator: random.pick(['<', '>='] as const), value: random.int(10), not, to }
  return { input: input.name, operator: '==', value: random.pick(['tea', 'jam', 'word']), not, to }
}

/** A routing node without a target does work instead, and its readers read what it makes. */
function withoutIdleRoutes(nodes: readonly CaseNode[]): CaseNode[] {
  const idle = new Map(
    nodes
      .filter(({ role, routes }) => role === 'routing' && routes.length === 0)
      .map((node) => [node.id, node]),
  )
  const reread = (source: CaseSource): CaseSource => {
    const node = 'node' in source ? idle.get(source.node) : undefined
    return node && 'node' in source ? { ...source, name: `${source.type}${node.key}` } : source
  }
  return nodes.map((node) => ({
    ...node,
    inputs: node.inputs.map((input) => ({ ...input, sources: input.sources?.map(reread) ?? [] })),
    ...(idle.has(node.id) && {
      role: 'work' as const,
      scripts: [{ answers: [], rest: { kind: 'ok' } as const }],
    }),
  }))
}
