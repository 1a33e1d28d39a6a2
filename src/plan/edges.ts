/** The edges of a plan: those of the draft, and those that its bindings, routes and data imply. */
import type { Draft, DraftNode, Edge, Source } from '../domain/plan.ts'
import { membersOf } from '../schema/members.ts'
import { wantedBy } from './names.ts'
import type { ResolvedNode, Supply } from './request.ts'
import { targetsOf } from './scenario.ts'
import { sourcesOf } from './sources.ts'

type Node = Omit<ResolvedNode, 'inputs'>

export function edgesOf(draft: Draft, nodes: readonly Node[], supply: Supply): Required<Edge>[] {
  const edges = new Map<string, Required<Edge>>()
  const ids = new Set(nodes.map(({ id }) => id))
  const add = ({ from, to, when = 'pass' }: Edge) => {
    if (ids.has(from) && ids.has(to) && from !== to) edges.set(`${from}\n${to}\n${when}`, { from, to, when })
  }
  const joined = (from: string, to: string) =>
    ['pass', 'fail', 'always'].some((when) => edges.has(`${from}\n${to}\n${when}`))
  const imply = (from: string, to: string) => {
    if (!joined(from, to)) add({ from, to })
  }
  for (const edge of draft.edges ?? []) add(edge)
  for (const { draft: node, id } of nodes) {
    for (const source of explicitSources(node)) if ('node' in source) imply(source.node, id)
    for (const target of targetsOf(node)) imply(id, target)
  }
  if ((draft.edges ?? []).length === 0) {
    const neighbours: Neighbours = {
      nodes,
      supply,
      position: new Map(nodes.map(({ id }, index) => [id, index])),
      skippable: new Set(nodes.flatMap(({ draft: node }) => [...targetsOf(node)])),
    }
    for (const node of nodes) for (const from of suppliersOf(node, neighbours)) imply(from, node.id)
    for (const edge of rescues(neighbours, [...edges.values()])) add(edge)
  }
  return [...edges.values()]
}

function explicitSources(node: DraftNode): readonly Source[] {
  return Object.values(node.inputs ?? {}).flatMap(sourcesOf)
}

/**
 * Without edges the data says who waits for whom: each input comes from the last node before that supplies it. A node
 * that may be skipped does not count alone: the one before it is waited for as well.
 */
function suppliersOf(node: Node, { nodes, supply, position, skippable }: Neighbours): string[] {
  const here = position.get(node.id) ?? 0
  return wantedBy(node).flatMap((name) => {
    if (node.draft.inputs !== undefined && Object.hasOwn(node.draft.inputs, name)) return []
    const suppliers = supply.get(name) ?? []
    const before = suppliers.filter((id) => (position.get(id) ?? 0) < here).reverse()
    const after = before.length > 0 || suppliers.includes(node.id) ? [] : suppliers
    const certain = before.findIndex(
      (id) => !skippable.has(id) && nodes[position.get(id) ?? 0]?.kind !== 'fallback',
    )
    return [...before.slice(0, certain < 0 ? before.length : certain + 1), ...after.slice(0, 1)]
  })
}

interface Neighbours {
  readonly nodes: readonly Node[]
  readonly supply: Supply
  readonly position: ReadonlyMap<string, number>
  /** Targets of routes. */
  readonly skippable: ReadonlySet<string>
}

/** A fallback node that nothing leads to stands in for the nodes before it that supply the same. */
function rescues({ nodes, supply, position }: Neighbours, edges: readonly Edge[]): Edge[] {
  return nodes.flatMap((node, here) => {
    if (node.kind !== 'fallback' || edges.some((edge) => edge.to === node.id && edge.when === 'fail'))
      return []
    const same = membersOf(node.output).flatMap(({ name }) => supply.get(name) ?? [])
    const before = [...new Set(same)].filter((id) => (position.get(id) ?? 0) < here)
    return before.map((id) => ({ from: id, to: node.id, when: 'fail' as const }))
  })
}
