/**
 * The ways a run can go: which route each router takes and which nodes fail where somebody catches it. What holds in
 * every scenario holds in every run, so "is it there on every way?" is a question about a short list.
 */
import type { DraftNode } from '../domain/plan.ts'
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
  const decisions = nodes.flatMap((node) => choicesOf(node, graph))
  const count = decisions.reduce((product, choices) => product * choices.length, 1)
  const byId = new Map(nodes.map((node) => [node.id, node]))
  if (count > mostScenarios || count * nodes.length > mostWork) {
    return { list: [certainly(decisions, graph)], complete: false }
  }
  let made: (readonly Choice[])[] = [[]]
  for (const choices of decisions) {
    made = made.flatMap((before) =>
      choices.map((choice) => (choice === undefined ? before : [...before, choice])),
    )
  }
  return { list: made.map((choices) => play(choices, { graph, byId })), complete: true }
}

/** What can happen at a node; undefined stands for passing as usual. */
function choicesOf(node: DraftNode, graph: Graph): (readonly (Choice | undefined)[])[] {
  if (node.routing !== undefined) {
    const { routes, elseTo } = node.routing
    const takes = (to: string | readonly string[], label: string): Choice => ({
      node: node.id,
      kind: 'takes',
      targets: new Set([to].flat()),
      label: `${node.id} takes ${label}`,
    })
    const ways = routes.map(({ to, label }) => takes(to, label ?? [to].flat().join(', ')))
    return [[...ways, takes(elseTo ?? [], elseTo === undefined ? 'no route' : [elseTo].flat().join(', '))]]
  }
  const caught = graph.outgoing.get(node.id)?.some((edge) => edge.when !== 'pass')
  return caught ? [[undefined, { node: node.id, kind: 'fails' }]] : []
}

interface Stage {
  readonly graph: Graph
  readonly byId: ReadonlyMap<string, DraftNode>
}

function play(choices: readonly Choice[], { graph, byId }: Stage): Scenario {
  const chosen = new Map(choices.map((choice) => [choice.node, choice]))
  const [completed, started] = [new Set<string>(), new Set<string>()]
  const onCircle = new Set(graph.circle)
  const isFollowed = (from: string, to: string, when: string) => {
    const choice = chosen.get(from)
    if (!started.has(from)) return false
    if (!completed.has(from)) return when !== 'pass'
    if (when === 'fail') return false
    return choice?.kind !== 'takes' || choice.targets.has(to) || !targetsOf(byId.get(from)).has(to)
  }
  for (const id of graph.order) {
    const incoming = graph.incoming.get(id) ?? []
    const runs = incoming.length === 0 || incoming.some((edge) => isFollowed(edge.from, id, edge.when))
    if (!runs || onCircle.has(id)) continue
    started.add(id)
    if (chosen.get(id)?.kind !== 'fails') completed.add(id)
  }
  const relevant = choices.filter((choice) => started.has(choice.node))
  const label = relevant
    .map((choice) => (choice.kind === 'takes' ? choice.label : `${choice.node} fails`))
    .join('; ')
  return { completed, started, label }
}

export function targetsOf(node: DraftNode | undefined): ReadonlySet<string> {
  const { routes = [], elseTo = [] } = node?.routing ?? {}
  return new Set([...routes.flatMap(({ to }) => to), ...[elseTo].flat()])
}

/** Nodes that run and complete whatever is decided: those that no decision leads to. */
function certainly(decisions: readonly (readonly (Choice | undefined)[])[], graph: Graph): Scenario {
  const deciding = new Set(decisions.flatMap((choices) => choices.flatMap((choice) => choice?.node ?? [])))
  const completed = new Set<string>()
  for (const id of graph.order) {
    const touched = deciding.has(id) || [...graph.ancestors(id)].some((each) => deciding.has(each))
    if (!touched && !graph.circle.includes(id)) completed.add(id)
  }
  return { completed, started: new Set(graph.order), label: 'too many ways to look at each' }
}
