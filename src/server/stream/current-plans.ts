/** Tracks the plans of a run while its events pass, for streams and pages that start in the middle of a journal. */

import { hasProvenance, type ProvenancePlan } from '../../domain/event/frame-provenance.ts'
import type { JournalEvent } from '../../domain/event.ts'
import type { Store } from '../../domain/ports/store.ts'

export interface PlansInForce {
  /** Reads the run's snapshots if these events need a plan that has not been seen. */
  prepare(events: readonly JournalEvent[]): Promise<void>
  planOf(planVersion: number): ProvenancePlan | undefined
}

/** Keeps only the fields a stream needs, because streams live long. */
function withoutRest({ nodes }: ProvenancePlan): ProvenancePlan {
  return { nodes: nodes.map(({ id, facetProvenance }) => ({ id, facetProvenance })) }
}

export function createPlansInForce(store: Pick<Store, 'snapshots'>, runId: string): PlansInForce {
  const plans = new Map<number, ProvenancePlan>()
  return {
    async prepare(events) {
      for (const event of events)
        if (event.type === 'plan_generated' && event.payload.plan)
          plans.set(event.payload.planVersion, withoutRest(event.payload.plan))
      const lacks = (event: JournalEvent) => hasProvenance(event) && !plans.has(event.planVersion)
      if (!events.some(lacks)) return
      // The snapshot was validated as a plan when it was stored.
      for (const { planVersion, plan } of await store.snapshots(runId))
        plans.set(planVersion, withoutRest(plan as unknown as ProvenancePlan))
    },
    planOf: (planVersion) => plans.get(planVersion),
  }
}
