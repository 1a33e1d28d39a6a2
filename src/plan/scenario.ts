/** One way that a run can go, and the choices that make it. */
import type { DraftNode } from '../domain/plan.ts'
import type { Graph } from './graph.ts'

export interface Scenario {
  /** Nodes that have an output. */
  readonly completed: ReadonlySet<string>
  /** Nodes that were started, completed or not. */
  readonly started: ReadonlySet<string>
  /** The decisions that make it, readable. */
  readonly label: string
  /** False when there are too many to look at: then only what no decision can touch is completed, the rest may be. */
  readonly complete: boolean
}

/** How many scenarios one question looks at. */
export const mostScenarios = 4_096

export type Choice =
  | { readonly node: string; readonly kind: 'fails' }
  | {
      readonly node: string
      readonly kind: 'takes'
      readonly targets: ReadonlySet<string>
      readonly label: string
    }

export interface Stage {
  readonly graph: Graph
  readonly byId: ReadonlyMap<string, DraftNode>
}

/** What can happen at a node; undefined stands for passing as usual. */
export function choicesOf(node: DraftNode, graph: Graph): readonly (Choice | undefined)[] {
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

export function labelOf(chosen: Iterable<Choice>): string {
  return [...chosen]
    .map((choice) => (choice.kind === 'takes' ? choice.label : `${choice.node} fails`))
    .join('; ')
}

export function targetsOf(node: DraftNode | undefined): ReadonlySet<string> {
  const { routes = [], elseTo = [] } = node?.routing ?? {}
  return new Set([...routes.flatMap(({ to }) => to), ...[elseTo].flat()])
}
