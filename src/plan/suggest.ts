/** What a planner could do about it: capabilities that supply a place, in words. */
import type { Capability } from '../domain/capability.ts'
import type { Facet } from '../domain/facet.ts'
import { declares, type Path } from '../schema/schema-values.ts'
import { answerId } from './builtins.ts'
import { keyOf } from './compile-contract.ts'
import type { ProveRequest } from './request.ts'

/** Names the capabilities whose output has the place, or says what else would help. */
export function suppliers(path: Path, request: ProveRequest): string {
  const able = request.capabilities
    .filter((capability) => suppliesPath(capability, path, request.facets))
    .slice(0, 5)
    .map(({ capabilityId }) => capabilityId)
  const what = path.join('.')
  if (able.length > 0) return `Add a node with ${able.join(' or ')}, which supplies ${what}`
  const otherwise = 'put it into the inputs, or register one that declares it'
  return isAnswerable(path, request)
    ? `No active capability declares ${what}: add a node with ${answerId} whose output contract has it, ${otherwise}`
    : `No active capability supplies ${what}: ${otherwise}`
}

/** The open answer supplies any property of the caller's schema as far as the caller lets it. */
function isAnswerable(path: Path, { capabilities, envelope }: ProveRequest): boolean {
  const { outputContract, policies } = envelope
  return (
    capabilities.some(({ capabilityId }) => capabilityId === answerId) &&
    !policies.planner.selection?.forbid?.includes(answerId) &&
    declares(outputContract.schema, path)
  )
}

function suppliesPath({ outputContract: side }: Capability, path: Path, facets: readonly Facet[]): boolean {
  if (!Array.isArray(side)) return declares(side as Exclude<typeof side, readonly string[]>, path)
  return facets.some(
    (facet) => side.includes(facet.name) && keyOf(facet) === path[0] && declares(facet.schema, path.slice(1)),
  )
}
