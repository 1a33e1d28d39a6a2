/** One scenario of a run, and the choices that lead to it. */
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
export function choicesOf(node: DraftNode, graph: Graph): readonly (Choice | undefined)[] {
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

export function labelOf(chosen: Iterable<Choice>): string {
  return [...chosen].map(({ label }) => label).join('; ')
}

export function targetsOf(node: DraftNode | undefined): ReadonlySet<string> {
  const { routes = [], elseTo = [] } = node?.routing ?? {}
  return new Set([...routes.flatMap(({ to }) => to), ...[elseTo].flat()])
}
