/**
 * Determines which RAO contracts of policies and capabilities apply at a node, for each capability that may execute it.
 */
import type { Capability } from '../../domain/capability.ts'
import { isRaoPolicy, type RaoPolicy, type RaoSelector } from '../../domain/policy.ts'
import type { AppliedContract } from '../../domain/rao/effective.ts'
import { isRaoError } from '../../domain/rao/rao-contract.ts'
import { type RaoSettings, readRaoSettings } from '../../domain/rao/settings.ts'
import { builtinFunctions } from '../builtin-capabilities.ts'
import type { ProveRequest, ResolvedNode } from './proof-request.ts'

/** Highest precedence first: policies in their order, then the capabilities themselves. */
export function applyContracts(node: ResolvedNode, request: ProveRequest): readonly AppliedContract[] {
  const able = findAnswering(node, request)
  if (able.length === 0) return []
  return [
    ...listRaoPolicies(request).flatMap(({ id, selector, rao }) =>
      selectCapabilities(selector, node, able).flatMap(({ capabilityId }) =>
        applied(rao, { from: `policy:${id}`, capabilityId }),
      ),
    ),
    ...able.flatMap(({ capabilityId, rao }) =>
      rao === undefined ? [] : applied(rao, { from: `capability:${capabilityId}`, capabilityId }),
    ),
  ]
}

/** Skips settings that cannot be parsed: another check rejects the plan for them. */
function applied(settings: RaoSettings, where: Omit<AppliedContract, 'contract'>): AppliedContract[] {
  const contract = readRaoSettings(settings)
  return contract === undefined || isRaoError(contract) ? [] : [{ ...where, contract }]
}

function listRaoPolicies({ envelope }: Pick<ProveRequest, 'envelope'>): readonly RaoPolicy[] {
  return envelope.policies.runtime.filter(isRaoPolicy).filter(({ enabled }) => enabled)
}

/**
 * Returns the capabilities that may execute a node and report a confidence: all but people and the engine's own checks.
 */
export function findAnswering({ draft }: ResolvedNode, { capabilities }: ProveRequest): Capability[] {
  const ids = [draft.capabilityId, ...(draft.alternates ?? [])]
  return [...new Set(ids)].flatMap((id) => {
    const found = id === undefined ? undefined : capabilities.find((each) => each.capabilityId === id)
    const reports = found && found.kind !== 'human' && !(found.kind === 'local' && builtinFunctions.has(id!))
    return reports ? [found] : []
  })
}

/** Returns the capabilities of a node that a selector matches; empty if the node does not match. */
export function selectCapabilities(
  { nodeId, kind, facet, capabilityId }: RaoSelector = {},
  node: ResolvedNode,
  able: readonly Capability[],
): readonly Capability[] {
  if (nodeId !== undefined && node.draft.id !== nodeId) return []
  if (kind !== undefined && node.kind !== kind) return []
  if (facet !== undefined && !node.provenance.output.some((each) => each.facet === facet)) return []
  return able.filter((each) => capabilityId === undefined || each.capabilityId === capabilityId)
}
