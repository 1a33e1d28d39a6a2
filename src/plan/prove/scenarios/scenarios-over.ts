/**
 * Enumerates scenarios projected onto a few nodes. Partial scenarios with the same future that agree on those nodes are
 * merged (dynamic programming over states), so that consecutive choices add up instead of multiplying.
 */
import { type Choice, labelOf, mostScenarios, type Scenario, type Stage, targetsOf } from './scenario.ts'

export interface WaysOver {
  /** Returns undefined when even these are too many. */
  over(ids: Iterable<string>, without: readonly string[]): readonly Scenario[] | undefined
  /** Nodes that some scenario starts; undefined when computing it would exceed the budget. */
  readonly reachable: ReadonlySet<string> | undefined
}

export interface Field extends Stage {
  readonly choicesAt: (id: string) => readonly (Choice | undefined)[]
}

/** Work budget shared by all queries about one plan, in visited states. Once it is used up, results are unknown. */
const mostWork = 1_000_000

export function waysOver(field: Field): WaysOver {
  const budget = { left: mostWork }
  const known = new Map<string, readonly Scenario[] | undefined>()
  const order = branchByBranch(field)
  const reachable = new Set<string>()
  const all = merge(field, {
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
        const leading = leadingTo([...watched, ...avoided], order, field)
        known.set(key, merge(field, { order: leading, watched, avoided, budget }))
      }
      return known.get(key)
    },
  }
}

/** State for all partial scenarios that have the same future and agree on the watched nodes. */
interface Bundle {
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

function merge(field: Field, question: Question): readonly Scenario[] | undefined {
  const { order, avoided, budget, starts } = question
  const circle = new Set(field.graph.circle)
  const asked = new Set(order)
  const feeds = feedsOf(field, asked)
  let bundles: Bundle[] = [{ ahead: new Set(), started: new Set(), completed: new Set(), chosen: [] }]
  for (const id of order) {
    if (circle.has(id)) continue
    const wanted = wantedAt(id, field)
    const next: Bundle[] = []
    for (const bundle of bundles) {
      budget.left -= 1 + bundle.ahead.size + bundle.started.size + bundle.completed.size
      if (next.length > mostScenarios || budget.left < 0) return undefined
      // Delete every key: past nodes must not keep states distinct.
      if (wanted.filter((key) => bundle.ahead.delete(key)).length < wanted.length) {
        next.push(bundle)
        continue
      }
      starts?.(id)
      const [first, ...others] = field.choicesAt(id)
      // Copy before the first choice modifies the state itself.
      const ways = [
        { way: bundle, choice: first },
        ...others.map((choice) => ({ way: copyOf(bundle), choice })),
      ]
      for (const { way, choice } of ways)
        if (choice?.kind === 'fails' || !avoided.has(id))
          next.push(goOn(way, { id, choice, asked, feeds, ...question }, field))
    }
    bundles = next.length > 1 ? distinct(next) : next
  }
  return bundles.map(({ started, completed, chosen }) => ({
    started,
    completed,
    label: labelOf(chosen),
    complete: true,
  }))
}

/** Returns the keys a node needs in `ahead` to start: a control edge if it has any, and each required input. */
function wantedAt(id: string, { graph, needs }: Field): readonly string[] {
  const hasControl = (graph.incoming.get(id) ?? []).some(({ kind }) => kind === 'control')
  return [...(hasControl ? [id] : []), ...(needs.get(id) ?? []).map(({ input }) => keyOf(id, input))]
}

const keyOf = (id: string, input: string) => `${id}\n${input}`

/** Maps each node to the required inputs that it supplies. */
function feedsOf({ needs }: Field, asked: ReadonlySet<string>): ReadonlyMap<string, readonly string[]> {
  const feeds = new Map<string, string[]>()
  for (const id of asked)
    for (const { input, from } of needs.get(id) ?? [])
      for (const source of from) {
        const fed = feeds.get(source)
        if (fed === undefined) feeds.set(source, [keyOf(id, input)])
        else fed.push(keyOf(id, input))
      }
  return feeds
}

function copyOf({ ahead, started, completed, chosen }: Bundle): Bundle {
  return { ahead: new Set(ahead), started: new Set(started), completed: new Set(completed), chosen }
}

interface Passing {
  readonly id: string
  readonly choice: Choice | undefined
  /** Nodes relevant to the query. */
  readonly asked: ReadonlySet<string>
  readonly feeds: ReadonlyMap<string, readonly string[]>
  readonly watched: ReadonlySet<string>
}

function goOn(
  bundle: Bundle,
  { id, choice, asked, feeds, watched }: Passing,
  { graph, byId }: Field,
): Bundle {
  const passes = choice?.kind !== 'fails'
  const targets = choice?.kind === 'takes' ? targetsOf(byId.get(id)) : undefined
  if (passes) for (const key of feeds.get(id) ?? []) bundle.ahead.add(key)
  for (const { to, when, kind } of graph.outgoing.get(id) ?? []) {
    if (kind === 'data' || !asked.has(to) || (passes ? when === 'fail' : when === 'pass')) continue
    if (choice?.kind === 'takes' && targets?.has(to) && !choice.targets.has(to)) continue
    bundle.ahead.add(to)
  }
  if (watched.has(id)) {
    bundle.started.add(id)
    if (passes) bundle.completed.add(id)
  }
  return choice === undefined ? bundle : { ...bundle, chosen: [...bundle.chosen, choice] }
}

/** Deduplicates equal states, keeping the first. */
function distinct(bundles: readonly Bundle[]): Bundle[] {
  const found = new Map<string, Bundle>()
  for (const bundle of bundles) {
    const key = [bundle.ahead, bundle.started, bundle.completed]
      .map((ids) => [...ids].sort().join('\n'))
      .join('\n\n')
    if (!found.has(key)) found.set(key, bundle)
  }
  return [...found.values()]
}

/**
 * Topological order by depth-first search: each branch is finished before the next, which keeps few states open at a
 * time.
 */
function branchByBranch({ graph }: Field): readonly string[] {
  const done = new Set<string>()
  const backwards: string[] = []
  const circle = new Set(graph.circle)
  const begin = graph.order.filter((id) => !graph.incoming.has(id)).reverse()
  for (const root of [...begin, ...graph.order]) {
    if (done.has(root)) continue
    const stack = [{ id: root, next: nextOf(root) }]
    done.add(root)
    for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
      const to = top.next.pop()
      if (to === undefined) {
        backwards.push(top.id)
        stack.pop()
      } else if (!done.has(to)) {
        done.add(to)
        stack.push({ id: to, next: nextOf(to) })
      }
    }
  }
  return backwards.reverse()

  // Nodes on a cycle are never reached; the others are ordered without them.
  function nextOf(id: string): string[] {
    return circle.has(id) ? [] : (graph.outgoing.get(id) ?? []).map(({ to }) => to)
  }
}

/** Restricts the order to the watched nodes and their ancestors. */
function leadingTo(
  watched: readonly string[],
  order: readonly string[],
  { graph }: Field,
): readonly string[] {
  const wanted = new Set(watched)
  for (const id of watched) for (const before of graph.ancestors(id)) wanted.add(before)
  return order.filter((id) => wanted.has(id))
}
