/**
 * Enumerates the scenarios of a plan: which route each router takes, and which nodes fail where a failure is handled.
 * What holds in every scenario holds in every run, so "is it present on every path?" is a query over a short list. If
 * there are too many, each query enumerates only scenarios that differ in the nodes it asks about.
 */
import type { DraftNode, PlanEdge } from '../../../domain/plan.ts'
import type { Graph } from '../graph.ts'
import {
  type Choice,
  formatChoices,
  listChoices,
  listRouteTargets,
  mergeScenarios,
  type Scenario,
  type ScenarioGraph,
} from './scenario.ts'

export interface Scenarios {
  /**
   * The scenarios projected onto these nodes: what they contain about others does not count. With `without`, only
   * scenarios in which none of the given nodes completes.
   */
  over(ids: Iterable<string>, without?: readonly string[]): readonly Scenario[]
  /** Nodes that some run starts. */
  readonly reachable: ReadonlySet<string>
}

/** Limits on full enumeration: number of scenarios and amount of work. */
const mostListed = 512
const mostWork = 500_000

export function buildScenarios(
  nodes: readonly DraftNode[],
  { graph, needs }: Pick<ScenarioGraph, 'graph' | 'needs'>,
): Scenarios {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const choices = new Map(nodes.map((node) => [node.id, listChoices(node, graph)]))
  const choicesAt = (id: string) => choices.get(id) ?? []
  const list = explore({ graph, needs, byId }, choicesAt)
  if (list)
    return {
      over: (_, without = []) => list.filter(({ completed }) => !without.some((id) => completed.has(id))),
      reachable: new Set(list.flatMap(({ started }) => [...started])),
    }
  const deciding = new Set([...choices].flatMap(([id, each]) => (each.length > 0 ? [id] : [])))
  const merged = mergeScenarios({ graph, needs, byId, choicesAt })
  const sure = certainly(deciding, graph)
  return {
    over: (ids, without = []) =>
      merged.over(ids, without) ?? (without.some((id) => sure.completed.has(id)) ? [] : [sure]),
    reachable: merged.reachable ?? sure.started,
  }
}

/**
 * Enumerates all scenarios by depth-first search, branching only at reached nodes: rounds of a loop that was left add
 * no scenarios. Returns undefined when there are too many.
 */
function explore(
  stage: ScenarioGraph,
  choicesAt: (id: string) => readonly (Choice | undefined)[],
): Scenario[] | undefined {
  const { order } = stage.graph
  const done: Scenario[] = []
  const open: PartialScenario[] = [{ at: 0, chosen: new Map(), completed: new Set(), started: new Set() }]
  let work = 0
  for (let partial = open.pop(); partial !== undefined; partial = open.pop()) {
    while (partial.at < order.length) {
      const id = order[partial.at++] as string
      if (++work > mostWork) return undefined
      if (!isReached(id, partial, stage)) continue
      partial.started.add(id)
      const [first, ...others] = choicesAt(id)
      // Push in reverse, so that the result keeps the order of the choices.
      for (const other of others.reverse()) open.push(withChoice(copyPartial(partial), id, other))
      withChoice(partial, id, first)
      if (open.length + done.length > mostListed) return undefined
    }
    done.push({
      completed: partial.completed,
      started: partial.started,
      label: formatChoices(partial.chosen.values()),
      complete: true,
    })
  }
  return done
}

/** A partial scenario: the choices and results before the node at index `at`. */
interface PartialScenario {
  at: number
  readonly chosen: Map<string, Choice>
  readonly completed: Set<string>
  readonly started: Set<string>
}

function copyPartial({ at, chosen, completed, started }: PartialScenario): PartialScenario {
  return { at, chosen: new Map(chosen), completed: new Set(completed), started: new Set(started) }
}

function withChoice(partial: PartialScenario, id: string, choice: Choice | undefined): PartialScenario {
  if (choice) partial.chosen.set(id, choice)
  if (choice?.kind !== 'fails') partial.completed.add(id)
  return partial
}

/** Whether a control edge to the node is followed (or it has none), and each required input has a source. */
function isReached(id: string, partial: PartialScenario, { graph, needs, byId }: ScenarioGraph): boolean {
  if (graph.circle.includes(id)) return false
  const control = (graph.incoming.get(id) ?? []).filter(({ kind }) => kind === 'control')
  if (control.length > 0 && !control.some((edge) => isFollowed(edge, partial, byId))) return false
  return (needs.get(id) ?? []).every(({ from }) => from.some((source) => partial.completed.has(source)))
}

function isFollowed(
  { from, to, when }: PlanEdge,
  { chosen, completed, started }: PartialScenario,
  byId: ScenarioGraph['byId'],
): boolean {
  const choice = chosen.get(from)
  if (!started.has(from)) return false
  if (!completed.has(from)) return when !== 'pass'
  if (when === 'fail') return false
  return choice?.kind !== 'takes' || choice.targets.has(to) || !listRouteTargets(byId.get(from)).has(to)
}

/** Label of a scenario that represents more than can be enumerated. */
const tooMany = 'too many scenarios to enumerate'

/** Returns the nodes that complete regardless of any choice: those without a choice among their ancestors. */
function certainly(deciding: ReadonlySet<string>, graph: Graph): Scenario {
  const completed = new Set<string>()
  for (const id of graph.order) {
    const touched = deciding.has(id) || [...graph.ancestors(id)].some((each) => deciding.has(each))
    if (!touched && !graph.circle.includes(id)) completed.add(id)
  }
  return { completed, started: new Set(graph.order), label: tooMany, complete: false }
}
