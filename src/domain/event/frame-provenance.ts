/**
 * Returns the facets that a frame refers to (FLEX-56): those of its node, or of the whole plan for planner, policy and
 * final frames.
 */
import type { EventType, JournalEvent } from '../event.ts'
import type { FacetProvenance, Plan } from '../plan.ts'
import type { Frame } from './frame.ts'

/** Frames that carry provenance although their payload does not; frames of nodes bring their own. */
const types: ReadonlySet<EventType> = new Set([
  'plan_requested',
  'plan_rejected',
  'plan_generated',
  'plan_updated',
  'policy_triggered',
  'hitl_request',
  'hitl_resolved',
  'validation_error',
  'complete',
])

/** The part of a plan that is read. */
export interface ProvenancePlan {
  readonly nodes: readonly Pick<Plan['nodes'][number], 'id' | 'facetProvenance'>[]
}

export function hasProvenance({ type, planVersion }: Pick<JournalEvent, 'type' | 'planVersion'>): boolean {
  return planVersion > 0 && types.has(type)
}

/** The frame with the provenance of the plan that was in force; before there is a plan, as it is. */
export function withProvenance(frame: Frame, plan: ProvenancePlan | undefined): Frame {
  if (plan === undefined || frame.facetProvenance !== undefined || !hasProvenance(frame)) return frame
  const node = plan.nodes.find(({ id }) => id === frame.nodeId)
  return { ...frame, facetProvenance: node?.facetProvenance ?? wholeProvenance(plan) }
}

/** All facets of a plan, each place once. */
function wholeProvenance({ nodes }: ProvenancePlan): FacetProvenance {
  const side = (name: keyof FacetProvenance) => {
    const all = nodes.flatMap(({ facetProvenance }) => facetProvenance?.[name] ?? [])
    return [...new Map(all.map((each) => [`${each.facet} ${each.pointer}`, each])).values()]
  }
  return { input: side('input'), output: side('output') }
}
