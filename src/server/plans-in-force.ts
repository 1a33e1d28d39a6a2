/** The plans of a run as its events pass by, for streams and pages that may begin in the middle. */
import type { JournalEvent } from '../domain/event.ts'
import { type ProvenancePlan, wantsProvenance } from '../domain/frame-provenance.ts'
import type { Store } from '../domain/ports/store.ts'

export interface PlansInForce {
  /** Reads the snapshots of the run if these events need a plan that has not passed by. */
  prepare(events: readonly JournalEvent[]): Promise<void>
  planOf(planVersion: number): ProvenancePlan | undefined
}

/** A stream lives long: it keeps no more of a plan than it needs. */
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
      const lacks = (event: JournalEvent) => wantsProvenance(event) && !plans.has(event.planVersion)
      if (!events.some(lacks)) return
      // What a snapshot holds was a plan when it was stored.
      for (const { planVersion, plan } of await store.snapshots(runId))
        plans.set(planVersion, withoutRest(plan as unknown as ProvenancePlan))
    },
    planOf: (planVersion) => plans.get(planVersion),
  }
}
