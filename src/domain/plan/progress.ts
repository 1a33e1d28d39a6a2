/** Progress of a plan, read from the state of its nodes: remaining nodes, and the values supplied so far. */
import type { Json } from '../../base/json.ts'
import { type Pointer, valueAt } from '../../base/pointer.ts'
import type { Plan } from '../plan.ts'

const settled: ReadonlySet<string> = new Set(['completed', 'skipped', 'error'])

/** The part of a plan that is read. */
export type PlanView = Pick<Plan, 'nodes'>

interface Progress {
  readonly pendingNodeIds: string[]
  /** By facet where the plan says which, by property where it does not. */
  readonly facets: { readonly [name: string]: Json }
}

export function measureProgress(
  plan: PlanView,
  node: (nodeId: string) => { readonly status: string; readonly output?: Json } | undefined,
): Progress {
  const pendingNodeIds: string[] = []
  const facets = new Map<string, Json>()
  for (const { id, facetProvenance } of plan.nodes) {
    const row = node(id)
    if (row === undefined || !settled.has(row.status)) pendingNodeIds.push(id)
    if (row?.status === 'completed' && row.output !== undefined) {
      collect(facets, row.output, facetProvenance?.output)
    }
  }
  return { pendingNodeIds, facets: Object.fromEntries(facets) }
}

function collect(
  facets: Map<string, Json>,
  output: Json,
  named: readonly { readonly facet: string; readonly pointer: Pointer }[] | undefined,
): void {
  if (named !== undefined && named.length > 0) {
    for (const { facet, pointer } of named) {
      const value = valueAt(output, pointer)
      if (value !== undefined) facets.set(facet, value)
    }
  } else if (typeof output === 'object' && output !== null && !Array.isArray(output)) {
    for (const [property, value] of Object.entries(output)) facets.set(property, value)
  }
}
