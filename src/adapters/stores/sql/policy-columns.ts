/** What the specifications want to see of an envelope beside its run: derived, and empty where the envelope says nothing. */
import { isObject } from '../../../base/json.ts'
import type { Envelope } from '../../../domain/envelope.ts'
import type { RunTable } from './tables.ts'

export function policyColumns(envelope: Envelope | undefined): Pick<RunTable, 'persona' | 'variant_policy'> {
  const topology = envelope?.policies?.planner?.topology
  return {
    persona: personaOf(envelope) ?? null,
    variant_policy: topology?.variantCount === undefined ? null : JSON.stringify(topology),
  }
}

/** Who is written for; the flat policy `persona` became this input. */
function personaOf(envelope: Envelope | undefined): string | undefined {
  const profile: unknown = envelope?.inputs?.['audienceProfile']
  const said = isObject(profile) ? profile['persona'] : undefined
  const named = said ?? envelope?.metadata?.['persona']
  return typeof named === 'string' ? named : undefined
}
