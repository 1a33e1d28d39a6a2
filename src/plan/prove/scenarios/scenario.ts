/** One scenario of a run, the choices that lead to it, and the merge of scenarios that agree. */
import type { DraftNode, Need } from '../../../domain/plan.ts'
import type { Graph } from '../graph.ts'

export interface Scenario {
  /** Nodes that have an output. */
  readonly completed: ReadonlySet<string>
  /** Nodes that were started, completed or not. */
  readonly started: ReadonlySet<string>
  /** Human-readable choices that lead to it. */
  readonly label: string
  /**
   * False when there are too many to enumerate: then `completed` has only nodes independent of all choices; others may
   * complete too.
   */
  readonly complete: boolean
}

/** Maximum number of scenarios per query. */
export const mostScenarios = 4_096

export type Choice =
  | { readonly node: string; readonly kind: 'fails'; readonly label: string }
  | {
      readonly node: string
      readonly kind: 'takes'
      readonly targets: ReadonlySet<string>
      readonly label: string
    }

export interface ScenarioGraph {
  readonly graph: Graph
  /** Required inputs that only nodes supply, by node. */
  readonly needs: ReadonlyMap<string, readonly Need[]>
  readonly byId: ReadonlyMap<string, DraftNode>
}

/** Returns the possible choices at a node; undefined means that it passes. A routing node that takes no route fails. */
export function listChoices(node: DraftNode, graph: Graph): readonly (Choice | undefined)[] {
  const caught = graph.outgoing.get(node.id)?.some((edge) => edge.when !== 'pass') ?? false
  const fails: Choice = { node: node.id, kind: 'fails', label: `${node.id} fails` }
  if (node.routing === undefined) return caught ? [undefined, fails] : []
  const { routes, elseTo = [] } = node.routing
  const takes = (to: string | readonly string[], label?: string): Choice => {
    const targets = new Set([to].flat())
    return targets.size === 0
      ? { ...fails, label: `${node.id} takes no route` }
      : {
          node: node.id,
          kind: 'takes',
          targets,
          label: `${node.id} takes ${label ?? [...targets].join(', ')}`,
        }
  }
  return [...routes.map(({ to, label }) => takes(to, label)), takes(elseTo), ...(caught ? [fails] : [])]
}

export function formatChoices(chosen: Iterable<Choice>): string {
  return [...chosen].map(({ label }) => label).join('; ')
}

export function listRouteTargets(node: DraftNode | undefined): ReadonlySet<string> {
  const { routes = [], elseTo = [] } = node?.routing ?? {}
  return new Set([...routes.flatMap(({ to }) => to), ...[elseTo].flat()])
}

// Enumerates scenarios projected onto a few nodes. Partial scenarios with the same future that agree on those nodes are
// merged (dynamic programming over states), so that consecutive choices add up instead of multiplying.

interface MergedScenarios {
  /** Returns undefined when even these are too many. */
  over(ids: Iterable<string>, without: readonly string[]): readonly Scenario[] | undefined
  /** Nodes that some scenario starts; undefined when computing it would exceed the budget. */
  readonly reachable: ReadonlySet<string> | undefined
}

interface ChoiceGraph extends ScenarioGraph {
  readonly choicesAt: (id: string) => readonly (Choice | undefined)[]
}

/** Work budget shared by all queries about one plan, in visited states. Once it is used up, results are unknown. */
const mostWork = 1_000_000

export function mergeScenarios(choiceGraph: ChoiceGraph): MergedScenarios {
  const budget = { left: mostWork }
  const known = new Map<string, readonly Scenario[] | undefined>()
  const order = branchByBranch(choiceGraph)
  const reachable = new Set<string>()
  const all = merge(choiceGraph, {
    order,
    watched: new Set(),
    avoided: new Set(),
    budget,
    starts: (id) => reachable.add(id),
  })
  return {
    reachable: all && reachable,
    over(ids, without) {
      const watched = new Set(ids)
      const avoided = new Set(without)
      const key = JSON.stringify([[...watched].sort(), [...avoided].sort()])
      if (!known.has(key)) {
        const leading = leadingTo([...watched, ...avoided], order, choiceGraph)
        known.set(key, merge(choiceGraph, { order: leading, watched, avoided, budget }))
      }
      return known.get(key)
    },
  }
}

/** State for all partial scenarios that have the same future and agree on the watched nodes. */
interface MergedState {
  /** Later nodes to which a control edge was followed, and required inputs of later nodes that have a source. */
  readonly ahead: Set<string>
  readonly started: Set<string>
  readonly completed: Set<string>
  /** The choices of one of the merged scenarios. */
  readonly chosen: readonly Choice[]
}

interface Question {
  readonly order: readonly string[]
  readonly watched: ReadonlySet<string>
  /** Scenarios in which one of these nodes completes are excluded. */
  readonly avoided: ReadonlySet<string>
  readonly budget: { left: number }
  readonly starts?: (id: string) => void
}

function merge(choiceGraph: ChoiceGraph, question: Question): readonly Scenario[] | undefined {
  const { order, avoided, budget, starts } = question
  const circle = new Set(choiceGraph.graph.circle)
  const asked = new Set(order)
  const feeds = getFeeds(choiceGraph, asked)
  let states: MergedState[] = [{ ahead: new Set(), started: new Set(), completed: new Set(), chosen: [] }]
  for (const id of order) {
    if (circle.has(id)) continue
    const wanted = wantedAt(id, choiceGraph)
    const next: MergedState[] = []
    for (const merged of states) {
      budget.left -= 1 + merged.ahead.size + merged.started.size + merged.completed.size
      if (next.length > mostScenarios || budget.left < 0) return undefined
      // Delete every key: past nodes must not keep states distinct.
      if (wanted.filter((key) => merged.ahead.delete(key)).length < wanted.length) {
        next.push(merged)
        continue
      }
      starts?.(id)
      const [first, ...others] = choiceGraph.choicesAt(id)
      // Copy before the first choice modifies the state itself.
      const branches = [
        { state: merged, choice: first },
        ...others.map((choice) => ({ state: copyState(merged), choice })),
      ]
      for (const { state, choice } of branches)
        if (choice?.kind === 'fails' || !avoided.has(id))
          next.push(advance(state, { id, choice, asked, feeds, ...question }, choiceGraph))
    }
    states = next.length > 1 ? distinct(next) : next
  }
  return states.map(({ started, completed, chosen }) => ({
    started,
    completed,
    label: formatChoices(chosen),
    complete: true,
  }))
}

/** Returns the keys a node needs in `ahead` to start: a control edge if it has any, and each required input. */
function wantedAt(id: string, { graph, needs }: ChoiceGraph): readonly string[] {
  const hasControl = (graph.incoming.get(id) ?? []).some(({ kind }) => kind === 'control')
  return [...(hasControl ? [id] : []), ...(needs.get(id) ?? []).map(({ input }) => toKey(id, input))]
}

const toKey = (id: string, input: string) => `${id}\n${input}`

/** Maps each node to the required inputs that it supplies. */
function getFeeds(
  { needs }: ChoiceGraph,
  asked: ReadonlySet<string>,
): ReadonlyMap<string, readonly string[]> {
  const feeds = new Map<string, string[]>()
  for (const id of asked)
    for (const { input, from } of needs.get(id) ?? [])
      for (const source of from) {
        const fed = feeds.get(source)
        if (fed === undefined) feeds.set(source, [toKey(id, input)])
        else fed.push(toKey(id, input))
      }
  return feeds
}

function copyState({ ahead, started, completed, chosen }: MergedState): MergedState {
  return { ahead: new Set(ahead), started: new Set(started), completed: new Set(completed), chosen }
}

interface Advance {
  readonly id: string
  readonly choice: Choice | undefined
  /** Nodes relevant to the query. */
  readonly asked: ReadonlySet<string>
  readonly feeds: ReadonlyMap<string, readonly string[]>
  readonly watched: ReadonlySet<string>
}

function advance(
  merged: MergedState,
  { id, choice, asked, feeds, watched }: Advance,
  { graph, byId }: ChoiceGraph,
): MergedState {
  const passes = choice?.kind !== 'fails'
  const targets = choice?.kind === 'takes' ? listRouteTargets(byId.get(id)) : undefined
  if (passes) for (const key of feeds.get(id) ?? []) merged.ahead.add(key)
  for (const { to, when, kind } of graph.outgoing.get(id) ?? []) {
    if (kind === 'data' || !asked.has(to) || (passes ? when === 'fail' : when === 'pass')) continue
    if (choice?.kind === 'takes' && targets?.has(to) && !choice.targets.has(to)) continue
    merged.ahead.add(to)
  }
  if (watched.has(id)) {
    merged.started.add(id)
    if (passes) merged.completed.add(id)
  }
  return choice === undefined ? merged : { ...merged, chosen: [...merged.chosen, choice] }
}

/** Deduplicates equal states, keeping the first. */
function distinct(states: readonly MergedState[]): MergedState[] {
  const found = new Map<string, MergedState>()
  for (const merged of states) {
    const key = [merged.ahead, merged.started, merged.completed]
      .map((ids) => [...ids].sort().join('\n'))
      .join('\n\n')
    if (!found.has(key)) found.set(key, merged)
  }
  return [...found.values()]
}

/**
 * Topological order by depth-first search: each branch is finished before the next, which keeps few states open at a
 * time.
 */
function branchByBranch({ graph }: ChoiceGraph): readonly string[] {
  const done = new Set<string>()
  const backwards: string[] = []
  const circle = new Set(graph.circle)
  const begin = graph.order.filter((id) => !graph.incoming.has(id)).reverse()
  for (const root of [...begin, ...graph.order]) {
    if (done.has(root)) continue
    const stack = [{ id: root, next: findNext(root) }]
    done.add(root)
    for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
      const to = top.next.pop()
      if (to === undefined) {
        backwards.push(top.id)
        stack.pop()
      } else if (!done.has(to)) {
        done.add(to)
        stack.push({ id: to, next: findNext(to) })
      }
    }
  }
  return backwards.reverse()

  // Nodes on a cycle are never reached; the others are ordered without them.
  function findNext(id: string): string[] {
    return circle.has(id) ? [] : (graph.outgoing.get(id) ?? []).map(({ to }) => to)
  }
}

/** Restricts the order to the watched nodes and their ancestors. */
function leadingTo(
  watched: readonly string[],
  order: readonly string[],
  { graph }: ChoiceGraph,
): readonly string[] {
  const wanted = new Set(watched)
  for (const id of watched) for (const before of graph.ancestors(id)) wanted.add(before)
  return order.filter((id) => wanted.has(id))
}
