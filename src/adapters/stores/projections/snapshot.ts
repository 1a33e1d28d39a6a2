/** What a run knows at one moment: the plan, what is still to do, and the values that its nodes have supplied. */
import type { Json } from '../../../base/json.ts'
import type { JournalEvent } from '../../../domain/event.ts'
import { type PlanView, progressOf } from '../../../domain/plan/progress.ts'
import type { SnapshotRow } from '../../../domain/ports/store.ts'
import type { StoredNode } from './node-steps.ts'

export type { PlanView } from '../../../domain/plan/progress.ts'

export function takeSnapshot(
  event: JournalEvent,
  plan: PlanView,
  node: (nodeId: string) => StoredNode | undefined,
): SnapshotRow {
  return {
    runId: event.runId,
    planVersion: event.planVersion,
    seq: event.seq,
    at: event.at,
    ...progressOf(plan, node),
    // A plan is JSON by construction; its brand is a type only.
    plan: plan as unknown as Json,
  }
}
