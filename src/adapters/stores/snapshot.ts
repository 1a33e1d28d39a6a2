/** What a run knows at one moment: the plan, what is still to do, and the values that its nodes have supplied. */
import { type Json, own } from '../../base/json.ts'
import { type Pointer, tokens } from '../../base/pointer.ts'
import type { JournalEvent } from '../../domain/event.ts'
import type { Plan } from '../../domain/plan.ts'
import type { SnapshotRow } from '../../domain/ports/store.ts'
import type { StoredNode } from './node-steps.ts'

const settled: ReadonlySet<string> = new Set(['completed', 'skipped', 'error'])

/** The part of a plan that a snapshot reads. */
export type PlanView = Pick<Plan, 'nodes'>

export function takeSnapshot(
  event: JournalEvent,
  plan: PlanView,
  node: (nodeId: string) => StoredNode | undefined,
): SnapshotRow {
  const pendingNodeIds: string[] = []
  const facets = new Map<string, Json>()
  for (const { id, facetProvenance } of plan.nodes) {
    const row = node(id)
    if (row === undefined || !settled.has(row.status)) pendingNodeIds.push(id)
    if (row?.status === 'completed' && row.output !== undefined) {
      collect(facets, row.output, facetProvenance?.output)
    }
  }
  return {
    runId: event.runId,
    planVersion: event.planVersion,
    seq: event.seq,
    at: event.at,
    pendingNodeIds,
    // A plan is JSON by construction; its brand is a type only.
    plan: plan as unknown as Json,
    facets: Object.fromEntries(facets),
  }
}

/** By facet where the plan says which, by property where it does not. */
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

function valueAt(root: Json, pointer: Pointer): Json | undefined {
  let value: unknown = root
  for (const token of tokens(pointer)) {
    if (typeof value !== 'object' || value === null) return undefined
    value = own(value, token)
  }
  return value as Json | undefined
}
