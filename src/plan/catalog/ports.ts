/** The ports of a capability: the properties it needs and supplies, each with its schema. */
import { child } from '../../base/pointer.ts'
import type { Capability, ContractSide } from '../../domain/capability.ts'
import type { Facet } from '../../domain/facet.ts'
import { both } from '../../schema/build/combine.ts'
import { listMembers, project } from '../../schema/build/project.ts'
import type { JsonSchema } from '../../schema/json-schema.ts'
import { declares } from '../../schema/values/schema-values.ts'
import { getPropertyKey } from './compile-facets.ts'

export interface Port {
  /** Name of the property; the empty string is the whole value, for schemas that name no properties. */
  readonly name: string
  readonly schema: JsonSchema
  readonly required: boolean
  /** The facets that share the property; empty for a hand-written schema. */
  readonly facets: readonly Facet[]
}

interface Ports {
  readonly needs: readonly Port[]
  readonly supplies: readonly Port[]
}

/** Facets indexed by name, used to build ports. */
export type FacetsByName = ReadonlyMap<string, Facet>

const known = new WeakMap<FacetsByName, WeakMap<Capability, Ports>>()

/** Memoised per capability and facet index. */
export function getPorts(capability: Capability, facets: FacetsByName): Ports {
  let byCapability = known.get(facets)
  if (byCapability === undefined) {
    byCapability = new WeakMap()
    known.set(facets, byCapability)
  }
  let ports = byCapability.get(capability)
  if (ports === undefined) {
    ports = {
      needs: sidePorts(capability.inputContract, facets),
      supplies: supplied(capability.outputContract, facets),
    }
    byCapability.set(capability, ports)
  }
  return ports
}

function supplied(side: ContractSide, facets: FacetsByName): readonly Port[] {
  if (isFacetList(side)) return facetPorts(side, facets)
  const ports = sidePorts(side, facets).filter(({ name }) => declares(side, [name]))
  return ports.length > 0 ? ports : [{ name: '', schema: side, required: true, facets: [] }]
}

function sidePorts(side: ContractSide, facets: FacetsByName): readonly Port[] {
  if (isFacetList(side)) return facetPorts(side, facets)
  return listMembers(side).map(({ name, required }) => ({
    name,
    required,
    schema: project(side, child('', name)).schema,
    facets: [],
  }))
}

/** Facets that share a property are intersected, as in a compiled contract. */
export function facetPorts(names: readonly string[], facets: FacetsByName): readonly Port[] {
  const ports = new Map<string, Port>()
  for (const name of names) {
    const facet = facets.get(name)
    if (facet === undefined) continue
    const key = getPropertyKey(facet)
    const before = ports.get(key)
    ports.set(key, {
      name: key,
      required: true,
      schema: before === undefined ? facet.schema : both(before.schema, facet.schema),
      facets: [...(before?.facets ?? []), facet],
    })
  }
  return [...ports.values()]
}

export function isFacetList(side: ContractSide): side is readonly string[] {
  return Array.isArray(side)
}

const byNames = new WeakMap<readonly Facet[], FacetsByName>()

/** Memoised: returns the same map for the same list, so that caches keyed by the map are hit. */
export function facetsByName(facets: readonly Facet[]): FacetsByName {
  let map = byNames.get(facets)
  if (map === undefined) {
    map = new Map(facets.map((facet) => [facet.name, facet]))
    byNames.set(facets, map)
  }
  return map
}

// Finds capabilities that can replace another one: for alternates of nodes and for fallbacks.

/** Returns the capabilities that supply all outputs of `first`, need no further inputs and have no side effects. */
export function standIns(
  first: Capability,
  capabilities: readonly Capability[],
  facets: FacetsByName,
): readonly Capability[] {
  const own = getPorts(first, facets)
  const given = new Set(own.needs.map(({ name }) => name))
  return capabilities
    .filter((other) => {
      if (other.capabilityId === first.capabilityId || other.sideEffect) return false
      const { needs, supplies } = getPorts(other, facets)
      return (
        own.supplies.every((port) => supplies.some(({ name }) => name === port.name && name !== '')) &&
        needs.every(({ name, required }) => !required || given.has(name))
      )
    })
    .sort((a, b) => (a.capabilityId < b.capabilityId ? -1 : 1))
}
