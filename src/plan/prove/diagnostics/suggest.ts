/** Suggestions for planners: names the capabilities that supply a path. */

import { closest } from '../../../base/closest.ts'
import type { Capability } from '../../../domain/capability.ts'
import type { Facet } from '../../../domain/facet.ts'
import { membersOf } from '../../../schema/build/members.ts'
import { declares, type Path } from '../../../schema/values/schema-values.ts'
import { answerId } from '../../builtin-capabilities.ts'
import { keyOf } from '../../catalog/compile-facets.ts'
import type { ProveRequest } from '../proof-request.ts'
import { mostScenarios } from '../scenarios/scenario.ts'

/** Names the capabilities whose output has the path, or suggests an alternative. */
export function suppliers(path: Path, request: ProveRequest): string {
  const able = suppliersOf(path, request)
  const what = path.length === 0 ? 'the answer' : path.join('.')
  if (able.length > 0) return `Add a node with ${able.join(' or ')}, which supplies ${what}`
  const otherwise = 'put it into the inputs, or register one that declares it'
  const answers = answering(path, request)
  if (answers === 'may')
    return `No active capability declares ${what}: add a node with ${answerId} whose output contract has it, ${otherwise}`
  const allow = answers === 'forbidden' ? `, or let ${answerId} do it, which the policy forbids` : ''
  const meant = meantBy(path, request)
  const hint = meant === undefined ? '' : `. Did you mean ${meant}?`
  return `No active capability supplies ${what}: ${otherwise}${allow}${hint}`
}

/** Returns the ids of up to five capabilities whose output has the path. */
export function suppliersOf(path: Path, { capabilities, facets }: ProveRequest): readonly string[] {
  return capabilities
    .filter((capability) => suppliesPath(capability, path, facets))
    .slice(0, 5)
    .map(({ capabilityId }) => capabilityId)
}

/** Returns the property of the contract or the inputs that a misspelled root name is closest to. */
export function meantBy([name]: Path, { envelope }: ProveRequest): string | undefined {
  const names = [
    ...membersOf(envelope.outputContract.schema).map((member) => member.name),
    ...Object.keys(envelope.inputs),
  ]
  return name === undefined || names.includes(name) ? undefined : closest(name, names)
}

/**
 * Whether the open answer can supply the path: it supplies any property of the caller's schema, unless a policy forbids
 * it.
 */
function answering(path: Path, { capabilities, envelope }: ProveRequest): 'may' | 'forbidden' | 'no' {
  const { outputContract, policies } = envelope
  const isThere = capabilities.some(({ capabilityId }) => capabilityId === answerId)
  if (!isThere || !declares(outputContract.schema, path)) return 'no'
  return policies.planner.selection?.forbid?.includes(answerId) ? 'forbidden' : 'may'
}

function suppliesPath({ outputContract: side }: Capability, path: Path, facets: readonly Facet[]): boolean {
  if (!Array.isArray(side)) return declares(side as Exclude<typeof side, readonly string[]>, path)
  return facets.some(
    (facet) => side.includes(facet.name) && keyOf(facet) === path[0] && declares(facet.schema, path.slice(1)),
  )
}

/** Used when the scenarios are too many to enumerate: nothing is known to be missing, and nothing is proved. */
export const tooManyScenarios = `More than ${mostScenarios.toLocaleString('en')} scenarios lead to it, too many to check: lower the bounds of maps and loops, bind it to fewer sources, or split the plan`
