/**
 * Where inputs come from. Bindings are drawn apart from control edges: a node may read across branches, from nodes that no
 * edge connects it to, and from several sources in order.
 */
import { type Random, randomFor } from '../../sim/random.ts'
import type { CaseInput, CaseNode, CaseSource, Graph, Value } from '../case.ts'

/** The nodes before, and in bodies what the map or loop gives. */
export interface Scope {
  readonly nodes: readonly CaseNode[]
  readonly given: { readonly v: readonly string[]; readonly s: readonly string[] }
}

export function makeInputs(random: Random, scope: Scope): CaseInput[] {
  return Array.from({ length: random.pick([0, 1, 1, 2, 2, 3]) }, (_, index) => {
    const type = random.pick(['v', 'v', 's'] as const)
    return {
      name: `p${index}`,
      type,
      required: random.chance(0.6),
      sources: makeSources(random, scope, type),
    }
  })
}

/** One to three sources; what comes last may be a literal or the envelope, present or not. */
export function makeSources(random: Random, scope: Scope, type: 'v' | 's'): CaseSource[] {
  const sources: CaseSource[] = []
  const some = random.pick([1, 1, 2, 3])
  for (let nth = 0; nth < some && scope.nodes.length > 0; nth++)
    sources.push(nodeSource(random.pick(scope.nodes), type))
  const given = scope.given[type]
  if (given.length > 0 && random.chance(0.6)) sources.unshift({ given: random.pick(given) })
  if (random.chance(0.07)) sources.splice(random.int(sources.length + 1), 0, { envelope: 'absent' })
  if (sources.length === 0 || random.chance(0.3))
    sources.push(
      random.chance(0.5)
        ? { literal: type === 'v' ? 'word' : random.int(10) }
        : { envelope: type === 'v' ? 'known' : 'level' },
    )
  return sources
}

/** What a node supplies of a type; a literal where it certainly supplies nothing. */
export function nodeSource(node: CaseNode, type: 'v' | 's'): CaseSource {
  const nothing: CaseSource = { literal: type === 'v' ? 'none' : 0 }
  if (node.role === 'loop') return { node: node.id, type, name: type }
  if (node.role === 'map')
    return type === 'v' && hasItems(node) ? { node: node.id, type, name: '0' } : nothing
  if (node.role !== 'routing') return { node: node.id, type, name: `${type}${node.key}` }
  // A routing node passes its inputs on: of those, one that is certainly there is read.
  const through = node.inputs.find((input) => input.required && input.type === type)
  return through === undefined ? nothing : { node: node.id, type, name: through.name }
}

/**
 * Some inputs are bound by name instead: to a member that nodes before supply. Where the draft has edges, only what is
 * upstream by them counts, so names are used there only for direct parents.
 */
export function withNames(random: Random, { nodes, edges }: Graph): CaseNode[] {
  const suppliers = (key: string) => nodes.filter((node) => suppliesByName(node) && node.key === key).length
  return nodes.map((node, index) => {
    if (!suppliesByName(node) || node.executor === 'model') return node
    const used = new Set<string>([node.key])
    const inputs = node.inputs.map((input): CaseInput => {
      // Who makes something anew keeps reading what it makes anew: so it comes later.
      if (!random.chance(0.25) || input.name === 'draft') return input
      const parents = nodes.slice(0, index).filter((parent) => {
        if (!suppliesByName(parent) || parent.standsInFor !== undefined || used.has(parent.key)) return false
        if (edges === undefined || edges.length === 0) return true
        return (
          suppliers(parent.key) === 1 && edges.some(({ from, to }) => from === parent.id && to === node.id)
        )
      })
      if (parents.length === 0) return input
      const { key } = random.pick(parents)
      used.add(key)
      return { name: `${input.type}${key}`, type: input.type, required: input.required }
    })
    return { ...node, inputs }
  })
}

/** Contracts that do not name some of what is bound; some of it is a member that its source does not have. */
export function withUnnamed(seed: number, nodes: readonly CaseNode[]): CaseNode[] {
  return nodes.map((node, index) => {
    const { iteration } = node
    if (iteration) {
      const body = { ...iteration.body, nodes: withUnnamed(seed, iteration.body.nodes) }
      return { ...node, iteration: { ...iteration, body } }
    }
    if (node.executor === 'human') return node
    const before = nodes.slice(0, index).filter(suppliesByName)
    const inputs = node.inputs.map((input, nth): CaseInput => {
      const random = randomFor(seed, 'unnamed', node.id, nth)
      // What others read through a routing node keeps its type.
      const isRead = node.role === 'routing' && node.inputs.find(sameKind(input)) === input
      if (!input.required || input.sources === undefined || isRead || !random.chance(0.3)) return input
      const unnamed = { ...input, unnamed: true } as const
      if (before.length === 0 || !random.chance(0.2)) return unnamed
      const absent: CaseSource = { node: random.pick(before).id, type: input.type, name: 'absent' }
      return { ...unnamed, sources: [absent, ...input.sources].slice(0, random.between(1, 2)) }
    })
    return { ...node, inputs }
  })
}

function sameKind({ type }: CaseInput): (other: CaseInput) => boolean {
  return (other) => other.required && other.type === type
}

export function suppliesByName({ role }: CaseNode): boolean {
  return role === 'work' || role === 'fallback'
}

/** A map that yields a list of texts, of a list that is not always empty. */
export function hasItems({ role, iteration, inputs }: CaseNode): boolean {
  const [first] = inputs[0]?.sources ?? []
  const empty = first !== undefined && 'literal' in first && (first.literal as readonly Value[]).length === 0
  return role === 'map' && iteration?.onItemFail !== 'collect' && !empty
}
