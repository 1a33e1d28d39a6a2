/** Nodes settle once, start when the way to them is open, and are all settled when the run completes. */
import type { JournalEvent } from '../../../domain/event.ts'
import type { Plan, PlanEdge, PlanNode } from '../../../domain/plan.ts'
import { type Rule, reopenedIn } from './rule.ts'

/** The events after which a node is done with. */
export const nodeEndEvents: ReadonlySet<string> = new Set(['node_complete', 'node_error', 'node_skipped'])

/** Once under each plan; what a new plan takes over stays settled. */
export function nodesSettleOnce(): Rule {
  const settled = new Map<string, { readonly seq: number; readonly type: string }>()
  return (event, _before, report) => {
    const nodeId = event.nodeId ?? ''
    if (nodeEndEvents.has(event.type)) {
      const earlier = settled.get(nodeId)
      if (earlier?.type === 'node_complete' && event.type === 'node_complete')
        report('double-completion', `"${nodeId}" has completed before, at ${earlier.seq}`)
      else if (earlier) report('settled-twice', `"${nodeId}" was settled before, at ${earlier.seq}`)
      settled.set(nodeId, { seq: event.seq, type: event.type })
    }
    if (event.type === 'nodes_reopened')
      for (const id of [...settled.keys()].filter(reopenedIn(event))) settled.delete(id)
    if (event.type !== 'plan_updated') return
    const kept = new Set(
      event.payload.nodes.flatMap(({ id, status }) => (status === 'completed' ? [id] : [])),
    )
    // Items and rounds that were under way may begin again, and nodes that this plan is without may come back.
    for (const id of settled.keys()) if (!kept.has(id)) settled.delete(id)
  }
}

/**
 * A node starts or is skipped after all that it waits for: the sources of its edges and of its inputs. It starts if a
 * control edge to it is followed, or it has none, and each required input has a source; otherwise it is skipped.
 */
export function nodesStartWhenTheWayIsOpen(): Rule {
  let graphs = new Map<string, Placed>()
  let ends = new Map<string, JournalEvent>()
  const addGraph = (prefix: string, graph: Graph) => {
    for (const node of graph.nodes) graphs.set(prefix + node.id, { prefix, graph, node })
  }
  return (event, _before, report) => {
    if (event.type === 'plan_generated' && event.payload.plan && !event.payload.metadata.resumed) {
      const { plan: made, nodes: summary } = event.payload
      const kept = new Set(
        (summary ?? made.nodes.map(({ id }) => ({ id, status: 'completed' }))).flatMap(({ id, status }) =>
          status === 'completed' ? [id] : [],
        ),
      )
      const iterated = made.nodes.filter(({ body }) => body).flatMap(({ id }) => [`${id}[`, `${id}#`])
      const isKept = (id: string) => kept.has(id) || iterated.some((prefix) => id.startsWith(prefix))
      graphs = new Map()
      addGraph('', made)
      ends = new Map([...ends].filter(([id, end]) => isKept(id) && end.type === 'node_complete'))
    }
    if (event.type === 'iteration_start') {
      const body = graphs.get(event.payload.of)?.node.body
      if (body) addGraph(`${event.nodeId}.`, body)
    }
    if (event.type === 'iteration_end') forget(`${event.nodeId}.`, graphs, ends)
    if (nodeEndEvents.has(event.type)) ends.set(event.nodeId ?? '', event)
    if (event.type === 'nodes_reopened')
      for (const id of [...ends.keys()].filter(reopenedIn(event))) ends.delete(id)
    if (event.type !== 'node_start' && event.type !== 'node_skipped') return
    const id = event.nodeId ?? ''
    const { prefix, graph, node } = graphs.get(id) ?? nowhere
    const edges = graph.edges.filter(({ to }) => prefix + to === id)
    const endOf = (from: string) => ends.get(prefix + from)
    const sources = Object.values(node?.inputs ?? {}).flat()
    const read = sources.flatMap((source) => ('node' in source ? [source.node] : []))
    const open = [...edges.map(({ from }) => from), ...read].find((from) => !endOf(from))
    if (open !== undefined) report('way', `"${id}" is settled or started before "${prefix}${open}"`)
    const control = edges.filter(({ kind }) => kind === 'control')
    const activated =
      control.length === 0 || control.some((edge) => isFollowed(edge, endOf(edge.from), { prefix, graph }))
    const lacking = node?.needs.find(({ from }) =>
      from.every((each) => endOf(each)?.type !== 'node_complete'),
    )
    if (event.type === 'node_start' && !activated)
      report('way', `"${id}" is started, and no control edge to it is followed`)
    if (event.type === 'node_start' && lacking)
      report('way', `"${id}" is started, and no source of its required input "${lacking.input}" completed`)
    if (event.type === 'node_skipped' && activated && !lacking)
      report('way', `"${id}" is skipped, although it is activated and supplied`)
  }
}

type Graph = Pick<Plan, 'nodes' | 'edges'>

/** A node in its plan or body; in an item or a round, ids begin with a prefix. */
interface Placed {
  readonly prefix: string
  readonly graph: Graph
  readonly node: PlanNode
}

const nowhere = { prefix: '', graph: { nodes: [], edges: [] }, node: undefined }

/** An item or a round is over. */
function forget(prefix: string, ...maps: readonly Map<string, unknown>[]): void {
  for (const map of maps) for (const id of map.keys()) if (id.startsWith(prefix)) map.delete(id)
}

/** A failure follows `fail` and `always`, a success `pass` and `always`; of the targets of a route, only those chosen. */
function isFollowed(
  { from, to, when }: PlanEdge,
  end: JournalEvent | undefined,
  { prefix, graph }: Pick<Placed, 'prefix' | 'graph'>,
): boolean {
  if (end?.type === 'node_error') return when !== 'pass'
  if (end?.type !== 'node_complete' || when === 'fail') return false
  const { routes = [], elseTo = [] } = graph.nodes.find(({ id }) => id === from)?.routing ?? {}
  const targets = [...routes.map((route) => route.to), elseTo].flat()
  return !targets.includes(to) || (end.payload.chosen?.includes(prefix + to) ?? true)
}

/** A run completes when each node of its plan is settled. */
export function answersAreWhole(): Rule {
  return (event, before, report) => {
    if (event.type !== 'complete' || event.payload.status !== 'completed') return
    for (const [id, { status }] of before?.nodes ?? [])
      if (status !== 'completed' && status !== 'error' && status !== 'skipped')
        report('unsettled', `the run completed while "${id}" is ${status}`)
  }
}
