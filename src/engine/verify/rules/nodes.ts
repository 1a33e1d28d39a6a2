/**
 * Nodes settle once, start when the way to them is open, and are all settled when the run completes; their items and
 * rounds are what a map or loop yields.
 */

import { canonicalJson } from '../../../base/canonical.ts'
import type { Json } from '../../../base/json.ts'
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
export function nodesStartWhenRouteIsOpen(): Rule {
  let graphs = new Map<string, LocatedNode>()
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
    const findEnd = (from: string) => ends.get(prefix + from)
    const sources = Object.values(node?.inputs ?? {}).flat()
    const read = sources.flatMap((source) => ('node' in source ? [source.node] : []))
    const open = [...edges.map(({ from }) => from), ...read].find((from) => !findEnd(from))
    if (open !== undefined) report('way', `"${id}" is settled or started before "${prefix}${open}"`)
    const control = edges.filter(({ kind }) => kind === 'control')
    const activated =
      control.length === 0 || control.some((edge) => isFollowed(edge, findEnd(edge.from), { prefix, graph }))
    const lacking = node?.needs.find(({ from }) =>
      from.every((each) => findEnd(each)?.type !== 'node_complete'),
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
interface LocatedNode {
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
  { prefix, graph }: Pick<LocatedNode, 'prefix' | 'graph'>,
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

// Items and rounds begin once, end once, no more at a time than allowed, and are what their map or loop yields.

type End = JournalEvent<'iteration_end'>['payload']

/** Written from the events alone: what the state counts is not asked. */
export function iterationsAreWhatTheyYield(): Rule {
  const open = new Map<string, string>()
  /** By map or loop, then by index or round. */
  const ends = new Map<string, Map<number, End & { readonly planVersion: number }>>()
  return (event, before, report) => {
    const nodeId = event.nodeId ?? ''
    if (event.type === 'iteration_start') {
      const { of, index } = event.payload
      const node = before?.nodes.get(of)?.node
      if (open.has(nodeId)) report('iteration', `"${nodeId}" has begun before, and has not ended`)
      const earlier = ends.get(of)?.get(index)
      if (earlier?.status === 'completed' && earlier.planVersion === event.planVersion)
        report('iteration', `"${nodeId}" begins again after it has completed`)
      if (node?.loop && index > 1 && ends.get(of)?.get(index - 1)?.status !== 'completed')
        report('iteration', `round ${index} of "${of}" begins before round ${index - 1} has completed`)
      const most = node?.map ? (node.map.concurrency ?? before?.plan?.limits.concurrency ?? 16) : 1
      const active = [...open.values()].filter((each) => each === of).length
      if (active >= most) report('iteration', `more than ${most} iterations of "${of}" are under way`)
      open.set(nodeId, of)
    }
    if (event.type === 'iteration_end') {
      const { of, index } = event.payload
      if (!open.delete(nodeId)) report('iteration', `"${nodeId}" ends, and has not begun`)
      const known = ends.get(of) ?? new Map<number, End & { readonly planVersion: number }>()
      ends.set(of, known.set(index, { ...event.payload, planVersion: event.planVersion }))
    }
    if (event.type === 'plan_updated') open.clear()
    if (event.type === 'nodes_reopened') {
      const isReopened = reopenedIn(event)
      for (const of of [...ends.keys()].filter(isReopened)) ends.delete(of)
      // One that waited for a person begins again, too.
      for (const id of [...open.keys()].filter(isReopened)) open.delete(id)
    }
    if (event.type !== 'node_complete' && event.type !== 'node_error') return
    const node = before?.nodes.get(nodeId)?.node
    if (!node?.body) return
    for (const [id, of] of open)
      if (of === nodeId) report('iteration', `"${nodeId}" is settled while "${id}" is under way`)
    // A person who was asked about its output may have given another.
    if (event.type === 'node_complete' && event.payload.person === undefined) {
      const wanted = getYield(node, ends.get(nodeId) ?? new Map())
      if (canonicalJson(wanted) !== canonicalJson(event.payload.output.value))
        report('iteration', `"${nodeId}" completes with something else than its iterations yielded`)
    }
    ends.delete(nodeId)
  }
}

/** What the node's settings make of the ends of its iterations. */
function getYield({ map }: PlanNode, ends: ReadonlyMap<number, End>): Json {
  const inOrder = [...ends].sort(([a], [b]) => a - b).map(([, end]) => end)
  if (!map) return inOrder.at(-1)?.output ?? null
  if (map.onItemFail !== 'collect')
    return inOrder.flatMap(({ output }) => (output === undefined ? [] : [output]))
  return inOrder.map(({ output, error }) => {
    if (output !== undefined) return { status: 'completed', value: output }
    const { code = '', message = '', details } = error ?? {}
    return { status: 'failed', error: { code, message, ...(details && { details }) } }
  })
}
