/** Derives the rows of the correction ledger from the end of an attempt. */

import { corrections, type HealthAttributes } from '../../../domain/event/health-attributes.ts'
import type { JournalEvent } from '../../../domain/event.ts'
import { type CorrectionRow, coercionPolicyVersion } from '../../../domain/ports/ledger.ts'
import type { StoredNode } from './node-steps.ts'

export function correctionsOf(
  event: JournalEvent,
  row: StoredNode | undefined,
  signals: HealthAttributes | undefined,
): CorrectionRow[] {
  if (event.type !== 'attempt_end' || signals === undefined) return []
  const { outcome, usage, model } = event.payload
  const took = event.at - (row?.attemptStartedAt ?? event.at)
  const provider = model ?? signals['aros.model_id']
  return corrections(signals).map(({ stage, transforms, depth, schemaHash }, index) => ({
    id: `${event.runId}:${event.seq}:${index}`,
    timestamp: event.at,
    stepName: event.nodeId ?? '',
    ...(row?.capabilityId !== undefined && { agentId: row.capabilityId }),
    ...(typeof provider === 'string' && { providerModel: provider }),
    ...(schemaHash !== undefined && { schemaHash }),
    coercionPolicyVersion,
    stage,
    repairDepth: depth,
    transformsApplied: transforms,
    ...(outcome === 'ok' && { latencyMsSaved: Math.round(took / Math.max(usage.calls, 1)) }),
  }))
}
