/**
 * Builds the edges of a plan. Control edges are those of the draft, the targets of routes, and the failures that
 * fallback nodes handle. Data edges come from bindings: they order nodes and activate none.
 */
import type { Draft, Edge, PlanEdge } from '../../../domain/plan.ts'
import { membersOf } from '../../../schema/build/project.ts'
import type { ResolvedNode, Supply } from '../proof-request.ts'
import { targetsOf } from '../scenarios/scenario.ts'
import { nodesIn, sourcesOf } from '../sources.ts'
import { wantedBy } from './bind.ts'

type Node = Omit<ResolvedNode, 'inputs' | 'needs'>

export function edgesOf(draft: Draft, nodes: readonly Node[], supply: Supply): PlanEdge[] {
  const position = new Map(nodes.map(({ id }, index) => [id, index]))
  const links = createLinks(position)
  for (const edge of draft.edges ?? []) links.control(edge)
  for (const { draft: node, id } of nodes)
    for (const to of targetsOf(node)) if (!links.has(id, to, 'always')) links.control({ from: id, to })
  for (const { draft: node, id } of nodes)
    for (const from of nodesIn(Object.values(node.inputs ?? {}).flatMap(sourcesOf))) links.data(from, id)
  const context: Context = { nodes, supply, position, links }
  for (const node of nodes)
    for (const from of replacedBy(node, context)) links.control({ from, to: node.id, when: 'fail' })
  addEdgesByName(context, { all: (draft.edges ?? []).length === 0 })
  return links.all()
}

interface Context {
  readonly nodes: readonly Node[]
  readonly supply: Supply
  readonly position: ReadonlyMap<string, number>
  readonly links: Links
}

/** Mutable collection of edges. */
interface Links {
  control(edge: Edge): void
  /** Adds a data edge, unless a control edge already orders the two nodes. */
  data(from: string, to: string): void
  has(from: string, to: string, when: Edge['when']): boolean
  into(id: string): readonly PlanEdge[]
  outOf(id: string): readonly PlanEdge[]
  /** Control edges first. */
  all(): PlanEdge[]
}

function createLinks(known: ReadonlyMap<string, unknown>): Links {
  const edges = new Map<string, PlanEdge>()
  const joined = new Set<string>()
  const into = new Map([...known.keys()].map((id): [string, PlanEdge[]] => [id, []]))
  const outOf = new Map([...known.keys()].map((id): [string, PlanEdge[]] => [id, []]))
  const add = (edge: PlanEdge) => {
    const { from, to, when } = edge
    const key = `${from}\n${to}\n${when}`
    if (!known.has(from) || !known.has(to) || from === to || edges.has(key)) return
    edges.set(key, edge)
    joined.add(`${from}\n${to}`)
    into.get(to)?.push(edge)
    outOf.get(from)?.push(edge)
  }
  return {
    control: ({ from, to, when = 'pass' }) => add({ from, to, when, kind: 'control' }),
    data(from, to) {
      if (!joined.has(`${from}\n${to}`)) add({ from, to, when: 'pass', kind: 'data' })
    },
    has: (from, to, when) => edges.has(`${from}\n${to}\n${when}`),
    into: (id) => into.get(id) ?? [],
    outOf: (id) => outOf.get(id) ?? [],
    all: () => [...edges.values()],
  }
}

/**
 * Returns the nodes whose failure activates a fallback node without other activation: the nodes before it that supply
 * the same (of several fallbacks the last), else those after it.
 */
function replacedBy(node: Node, { nodes, supply, position, links }: Context): readonly string[] {
  if (node.kind !== 'fallback' || links.into(node.id).some(({ kind }) => kind === 'control')) return []
  const here = position.get(node.id) ?? 0
  const after = reachedFrom(node.id, links)
  const named = new Set(membersOf(node.output).flatMap(({ name }) => supply.get(name) ?? []))
  const same = nodes.filter(({ id }) => named.has(id) && !after.has(id))
  const before = same.filter(({ id }) => (position.get(id) ?? 0) < here)
  const fallbacks = before.filter(({ kind }) => kind === 'fallback')
  if (fallbacks.length > 0) return fallbacks.slice(-1).map(({ id }) => id)
  const others =
    before.length > 0 ? before : same.filter(({ id, kind }) => id !== node.id && kind !== 'fallback')
  return others.map(({ id }) => id)
}

/**
 * Orders nodes without draft edges by data: each input waits for the last preceding node that supplies it. If that node
 * may be skipped, the supplier before it is waited for as well.
 */
function addEdgesByName(context: Context, { all }: { readonly all: boolean }): void {
  const { nodes, links } = context
  const skippable = new Set<string>()
  const isConditional = ({ from, to, when }: PlanEdge) =>
    when === 'fail' || targetsOf(nodes[context.position.get(from) ?? -1]?.draft).has(to)
  const spread = (id: string) => {
    skippable.add(id)
    for (const each of reachedFrom(id, links)) skippable.add(each)
  }
  for (const { id } of nodes) if (links.into(id).some(isConditional)) spread(id)
  for (const node of nodes) {
    if (all || !links.into(node.id).some(({ kind }) => kind === 'control'))
      for (const from of suppliersOf(node, context, skippable)) links.data(from, node.id)
    if (!skippable.has(node.id) && links.into(node.id).some(({ from }) => skippable.has(from)))
      spread(node.id)
  }
}

function suppliersOf(
  node: Node,
  { supply, position, links }: Context,
  skippable: ReadonlySet<string>,
): string[] {
  const here = position.get(node.id) ?? 0
  const waiting = reachedFrom(node.id, links)
  return wantedBy(node).flatMap((name) => {
    if (node.draft.inputs !== undefined && Object.hasOwn(node.draft.inputs, name)) return []
    const suppliers = (supply.get(name) ?? []).filter((id) => !waiting.has(id))
    const before = suppliers.filter((id) => (position.get(id) ?? 0) < here).reverse()
    const after = before.length > 0 || suppliers.includes(node.id) ? [] : suppliers
    const certain = before.findIndex((id) => !skippable.has(id))
    return [...before.slice(0, certain < 0 ? before.length : certain + 1), ...after.slice(0, 1)]
  })
}

/** Returns all descendants of a node, along edges of either kind. */
function reachedFrom(id: string, { outOf }: Links): ReadonlySet<string> {
  const found = new Set<string>()
  const stack = [id]
  for (let at = stack.pop(); at !== undefined; at = stack.pop())
    for (const { to } of outOf(at)) {
      if (found.has(to)) continue
      found.add(to)
      stack.push(to)
    }
  return found
}
