/**
 * The ways a run can go: which route each router takes and which nodes fail where somebody catches it. What holds in
 * every scenario holds in every run, so "is it there on every way?" is a question about a short list.
 */
import type { DraftNode, Edge } from '../domain/plan.ts'
import type { Graph } from './graph.ts'

export interface Scenario {
  /** Nodes that have an output. */
  readonly completed: ReadonlySet<string>
  /** Nodes that were started, completed or not. */
  readonly started: ReadonlySet<string>
  /** The decisions that make it, readable. */
  readonly label: string
}

export interface Scenarios {
  readonly list: readonly Scenario[]
  /** False when there are too many: then the list holds one, in which only what no decision can touch is completed. */
  readonly complete: boolean
}

/** How many scenarios are looked at, and how much work they may be together. */
const mostScenarios = 4_096
const mostWork = 2_000_000

type Choice =
  | { readonly node: string; readonly kind: 'fails' }
  | {
      readonly node: string
      readonly kind: 'takes'
      readonly targets: ReadonlySet<string>
      readonly label: string
    }

export function scenariosOf(nodes: readonly DraftNode[], graph: Graph): Scenarios {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const choices = new Map(nodes.map((node) => [node.id, choicesOf(node, graph)]))
  const list = explore({ graph, byId }, (id) => choices.get(id) ?? [])
  if (list) return { list, complete: true }
  const deciding = new Set([...choices].flatMap(([id, each]) => (each.length > 0 ? [id] : [])))
  return { list: [certainly(deciding, graph)], complete: false }
}

/**
 * Every way that a run can go, by deciding only at nodes that are reached: rounds of a loop that was left make no ways of
 * their own. Nothing when there are too many.
 */
function explore(
  stage: Stage,
  choicesAt: (id: string) => readonly (Choice | undefined)[],
): Scenario[] | undefined {
  const { order } = stage.graph
  const done: Scenario[] = []
  const open: Way[] = [{ at: 0, chosen: new Map(), completed: new Set(), started: new Set() }]
  let work = 0
  for (let way = open.pop(); way !== undefined; way = open.pop()) {
    while (way.at < order.length) {
      const id = order[way.at++] as string
      if (++work > mostWork) return undefined
      if (!isReached(id, way, stage)) continue
      way.started.add(id)
      const [first, ...others] = choicesAt(id)
      // The last of the others is looked at last, so that the list keeps the order of the choices.
      for (const other of others.reverse()) open.push(withChoice(copyOf(way), id, other))
      withChoice(way, id, first)
      if (open.length + done.length > mostScenarios) return undefined
    }
    done.push({ completed: way.completed, started: way.started, label: labelOf(way) })
  }
  return done
}

/** A run on its way: what has been decided and done before the node at `at`. */
interface Way {
  at: number
  readonly chosen: Map<string, Choice>
  readonly completed: Set<string>
  readonly started: Set<string>
}

function copyOf({ at, chosen, completed, started }: Way): Way {
  return { at, chosen: new Map(chosen), completed: new Set(completed), started: new Set(started) }
}

function withChoice(way: Way, id: string, choice: Choice | undefined): Way {
  if (choice) way.chosen.set(id, choice)
  if (choice?.kind !== 'fails') way.completed.add(id)
  return way
}

function labelOf({ chosen }: Way): string {
  return [...chosen.values()]
    .map((choice) => (choice.kind === 'takes' ? choice.label : `${choice.node} fails`))
    .join('; ')
}

/** What can happen at a node; undefined stands for passing as usual. */
function choicesOf(node: DraftNode, graph: Graph): readonly (Choice | undefined)[] {
  if (node.routing !== undefined) {
    const { routes, elseTo } = node.routing
    const takes = (to: string | readonly string[], label: string): Choice => ({
      node: node.id,
      kind: 'takes',
      targets: new Set([to].flat()),
      label: `${node.id} takes ${label}`,
    })
    const ways = routes.map(({ to, label }) => takes(to, label ?? [to].flat().join(', ')))
    return [...ways, takes(elseTo ?? [], elseTo === undefined ? 'no route' : [elseTo].flat().join(', '))]
  }
  const caught = graph.outgoing.get(node.id)?.some((edge) => edge.when !== 'pass')
  return caught ? [undefined, { node: node.id, kind: 'fails' }] : []
}

interface Stage {
  readonly graph: Graph
  readonly byId: ReadonlyMap<string, DraftNode>
}

function isReached(id: string, way: Way, { graph, byId }: Stage): boolean {
  if (graph.circle.includes(id)) return false
  const incoming = graph.incoming.get(id) ?? []
  return incoming.length === 0 || incoming.some((edge) => isFollowed(edge, way, byId))
}

function isFollowed(
  { from, to, when }: Required<Edge>,
  { chosen, completed, started }: Way,
  byId: Stage['byId'],
): boolean {
  const choice = chosen.get(from)
  if (!started.has(from)) return false
  if (!completed.has(from)) return when !== 'pass'
  if (when === 'fail') return false
  return choice?.kind !== 'takes' || choice.targets.has(to) || !targetsOf(byId.get(from)).has(to)
}

export function targetsOf(node: DraftNode | undefined): ReadonlySet<string> {
  const { routes = [], elseTo = [] } = node?.routing ?? {}
  return new Set([...routes.flatMap(({ to }) => to), ...[elseTo].flat()])
}

/** Nodes that run and complete whatever is decided: those that no decision leads to. */
function certainly(deciding: ReadonlySet<string>, graph: Graph): Scenario {
  const completed = new Set<string>()
  for (const id of graph.order) {
    const touched = deciding.has(id) || [...graph.ancestors(id)].some((each) => deciding.has(each))
    if (!touched && !graph.circle.includes(id)) completed.add(id)
  }
  return { completed, started: new Set(graph.order), label: 'too many ways to look at each' }
}
