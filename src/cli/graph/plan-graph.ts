/** Turns a plan into a picture's nodes and links: inserted nodes are folded away, bodies of maps and loops become groups. Pure. */
import { isInternalNode, joinVisible, type VisibleLink } from '../../domain/plan/visible-nodes.ts'
import type { Draft, DraftNode, Edge } from '../../domain/plan.ts'
import { oneLine } from '../one-line.ts'

export interface GraphNode {
  readonly id: string
  readonly title: string
  /** Who does it, such as `write (model)`. */
  readonly detail: string
  readonly kind: 'work' | 'routing' | 'group'
  /** The map or loop around it. */
  readonly group?: string
  /** Of a run: the state of the node. */
  readonly status?: string
}

export interface GraphLink {
  readonly from: string
  readonly to: string
  /** Of a route: its label. */
  readonly label?: string
  /** Followed when the source fails. */
  readonly onFailure?: true
}

export interface PlanGraph {
  readonly title: string
  readonly nodes: readonly GraphNode[]
  readonly links: readonly GraphLink[]
}

type Graphed = Pick<Draft, 'nodes' | 'edges'>

interface GraphOptions {
  readonly title: string
  readonly statuses?: ReadonlyMap<string, string>
  /** Show inserted nodes too. */
  readonly all?: boolean
}

export function buildPlanGraph(plan: Graphed, { title, statuses, all = false }: GraphOptions): PlanGraph {
  const nodes: GraphNode[] = []
  const links: GraphLink[] = []
  const add = (part: Graphed, prefix: string, group?: string) => {
    const hidden = new Set(all ? [] : part.nodes.filter(isInternalNode).map(({ id }) => id))
    for (const node of part.nodes) {
      if (hidden.has(node.id)) continue
      const id = `${prefix}${node.id}`
      const status = statuses?.get(id)
      nodes.push({ ...describeNode(node), id, ...(group && { group }), ...(status && { status }) })
      if (node.body) add(node.body, `${id}/`, id)
    }
    const ids = part.nodes.map(({ id }) => id)
    const joined = joinVisible(ids, part.edges ?? [], (id) => hidden.has(id))
    for (const link of reduce(joined, part))
      links.push({ ...link, from: prefix + link.from, to: prefix + link.to })
  }
  add(plan, '')
  return { title, nodes, links }
}

function describeNode(node: DraftNode): Omit<GraphNode, 'id' | 'group'> {
  const { id, label = id, capabilityId = '', kind } = node
  if (node.body)
    return { title: oneLine(label, 60), detail: node.map ? 'for each item' : 'repeat', kind: 'group' }
  const isRouting = kind === 'routing'
  return {
    title: oneLine(label, 60),
    detail: isRouting ? 'choose' : oneLine(capabilityId, 60),
    kind: isRouting ? 'routing' : 'work',
  }
}

/** Above this size, links that other paths imply stay: finding them takes the product of nodes and links. */
const mostReduced = 400

/** Drops links that a longer path implies (transitive reduction), except labelled ones and those after a failure. */
function reduce(joined: readonly VisibleLink[], part: Graphed): GraphLink[] {
  const edges = new Map((part.edges ?? []).map((edge) => [pairKey(edge.from, edge.to), edge]))
  const nodes = new Map(part.nodes.map((node) => [node.id, node]))
  const links = joined.map((link) =>
    toLink(link, edges.get(pairKey(link.from, link.via)), nodes.get(link.from)),
  )
  if (nodes.size > mostReduced) return links
  const targets = new Map<string, string[]>()
  for (const { from, to } of links) targets.set(from, [...(targets.get(from) ?? []), to])
  return links.filter(
    ({ from, to, label, onFailure }) => label !== undefined || onFailure || !isImplied(from, to, targets),
  )
}

function pairKey(from: string, to: string): string {
  return JSON.stringify([from, to])
}

function toLink(
  { from, to, via }: VisibleLink,
  edge: Edge | undefined,
  node: DraftNode | undefined,
): GraphLink {
  const { routes = [], elseTo = [] } = node?.routing ?? {}
  const route = routes.find((each) => [each.to].flat().includes(via))
  const label = route ? (route.label ?? `route ${routes.indexOf(route) + 1}`) : undefined
  const otherwise = [elseTo].flat().includes(via) ? 'else' : undefined
  const shown = label ?? otherwise
  return {
    from,
    to,
    ...(shown !== undefined && { label: oneLine(shown, 40) }),
    ...(edge?.when === 'fail' && { onFailure: true }),
  }
}

function isImplied(from: string, to: string, targets: ReadonlyMap<string, readonly string[]>): boolean {
  const open = (targets.get(from) ?? []).filter((next) => next !== to)
  const seen = new Set(open)
  for (const id of open)
    for (const next of targets.get(id) ?? []) {
      if (next === to) return true
      if (!seen.has(next)) {
        seen.add(next)
        open.push(next)
      }
    }
  return false
}
