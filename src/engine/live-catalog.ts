/** The facets and capabilities that this process knows, by value. */
import { ProvisoError } from '../base/error.ts'
import type { Capability } from '../domain/capability.ts'
import type { Facet } from '../domain/facet.ts'
import type { Catalog } from '../domain/ports/catalog.ts'

export interface LiveCatalog extends Catalog {
  /** Adds a capability; `option/invalid` if the id is taken. */
  add(capability: Capability): void
}

export function createCatalog(facets: readonly Facet[], capabilities: readonly Capability[]): LiveCatalog {
  const byId = new Map<string, Capability>()
  const add = (capability: Capability) => {
    if (byId.has(capability.capabilityId))
      throw new ProvisoError('option/invalid', `Two capabilities are called "${capability.capabilityId}"`, {
        hint: 'Give one of them another capabilityId',
      })
    byId.set(capability.capabilityId, capability)
  }
  for (const capability of capabilities) add(capability)
  return {
    facets: () => facets,
    capabilities: () => [...byId.values()],
    capability: (capabilityId) => byId.get(capabilityId),
    add,
  }
}
