/**
 * Selects the capabilities shown to a model: those on a path from the given inputs to the wanted outputs, best first
 * (CRCS).
 */
import type { Capability } from '../../domain/capability.ts'
import type { Facet } from '../../domain/facet.ts'
import type { Considered } from '../../domain/ports/planner.ts'
import { isBuiltin } from '../builtin-capabilities.ts'
import { isFacetList } from '../catalog/ports.ts'
import { considerCandidates } from '../search/candidates/prices.ts'
import type { SearchRequest } from '../search/search-request.ts'

export interface Shortlist {
  readonly capabilities: readonly Capability[]
  /** The facets that these capabilities use. */
  readonly facets: readonly Facet[]
  /** Number of relevant capabilities that are not shown. */
  readonly cut: number
  /** Required by the caller, but not available. */
  readonly lost: readonly string[]
  /** All of them with their prices; pass it on to `search` with the same request. */
  readonly considered: Considered
}

export function shortlist(request: SearchRequest, mostRows: number): Shortlist {
  const { selection } = request.envelope.policies.planner
  const forbidden = new Set(selection?.forbid ?? [])
  const considered = considerCandidates(request)
  const builtin = request.capabilities.filter(
    ({ capabilityId }) => isBuiltin(capabilityId) && !forbidden.has(capabilityId),
  )
  const others = considered.capabilities
    .map(({ capability }) => capability)
    .filter(({ capabilityId }) => !isBuiltin(capabilityId))
  const required = (selection?.require ?? []).filter((id) => !isBuiltin(id))
  const first = others.filter(({ capabilityId }) => required.includes(capabilityId))
  const capacity = Math.max(mostRows - builtin.length, 0)
  const shown = [...first, ...others.filter((each) => !first.includes(each))].slice(0, capacity)
  const capabilities = [...shown, ...builtin]
  return {
    capabilities,
    facets: findUsedFacets(capabilities, request.facets),
    cut: others.length - shown.length,
    considered,
    lost: required.filter((id) => !others.some(({ capabilityId }) => capabilityId === id)),
  }
}

function findUsedFacets(capabilities: readonly Capability[], facets: readonly Facet[]): readonly Facet[] {
  const names = new Set(
    capabilities.flatMap(({ inputContract, outputContract }) =>
      [inputContract, outputContract].flatMap((side) => (isFacetList(side) ? side : [])),
    ),
  )
  return facets.filter(({ name }) => names.has(name))
}
