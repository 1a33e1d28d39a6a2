/** What deciding has to know of the capabilities in a catalog. */
import type { Catalog } from '../domain/ports/catalog.ts'
import type { Moment } from './fact.ts'

/** The kinds whose texts and values could have been written by strangers, unless an engine is told otherwise. */
export const untrustedKinds: readonly string[] = ['model', 'http', 'mcp', 'scripted']

export function knowCapabilities(
  untrusted: readonly string[] = untrustedKinds,
): (catalog: Catalog) => Moment['capability'] {
  const strange = new Set(untrusted)
  return (catalog) => (capabilityId) => {
    const known = catalog.capability(capabilityId)
    if (!known) return undefined
    const { idempotent, sideEffect, kind, cost } = known
    return { kind, idempotent, sideEffect, untrusted: strange.has(kind), tokens: cost?.estimatedTokens ?? 0 }
  }
}
