/** Finds capabilities that can replace another one: for alternates of nodes and for fallbacks. */
import type { Capability } from '../../domain/capability.ts'
import { type FacetsByName, portsOf } from './ports.ts'

/** Returns the capabilities that supply all outputs of `first`, need no further inputs and have no side effects. */
export function standIns(
  first: Capability,
  capabilities: readonly Capability[],
  facets: FacetsByName,
): readonly Capability[] {
  const own = portsOf(first, facets)
  const given = new Set(own.needs.map(({ name }) => name))
  return capabilities
    .filter((other) => {
      if (other.capabilityId === first.capabilityId || other.sideEffect) return false
      const { needs, supplies } = portsOf(other, facets)
      return (
        own.supplies.every((port) => supplies.some(({ name }) => name === port.name && name !== '')) &&
        needs.every(({ name, required }) => !required || given.has(name))
      )
    })
    .sort((a, b) => (a.capabilityId < b.capabilityId ? -1 : 1))
}
