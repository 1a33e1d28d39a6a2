/**
 * Obligation on RAO contracts of nodes, capabilities and policies: each can be parsed and applies, so that no contract
 * silently guards nothing.
 */
import { closest } from '../../../base/closest.ts'
import type { Capability } from '../../../domain/capability.ts'
import type { Diagnostic } from '../../../domain/diagnostic.ts'
import type { Draft, DraftNode } from '../../../domain/plan.ts'
import { isRaoPolicy, type RaoPolicy, type RaoSelector } from '../../../domain/policy.ts'
import {
  type AppliedContract,
  isRaoError,
  type RaoError,
  readRaoContract,
} from '../../../domain/rao/rao-contract.ts'
import { type RaoSettings, readRaoSettings } from '../../../domain/rao/settings.ts'
import { builtinFunctions } from '../../builtin-capabilities.ts'
import { createDiagnostic } from '../../diagnostics.ts'
import type { ProveRequest, Resolved, ResolvedNode } from '../proof-request.ts'
import { withBodies } from './policies.ts'

/** Checks contracts that nodes state themselves, and those of their capabilities. */
export function nodeContracts({ nodes, request }: Resolved): readonly Diagnostic[] {
  return nodes.flatMap((node) => [
    ...ownContract(node),
    ...findAnswering(node, request).flatMap(({ capabilityId, rao }) => {
      const contract = rao && readRaoSettings(rao)
      return isRaoError(contract)
        ? [unreadable(contract, { id: node.id, capabilityId, what: `RAO contract of "${capabilityId}"` })]
        : []
    }),
  ])
}

function ownContract({ id, draft }: ResolvedNode): Diagnostic[] {
  const contract = readRaoContract(draft.data)
  if (contract === undefined) return []
  if (isRaoError(contract)) return [unreadable(contract, { id, what: `RAO data of "${id}"` })]
  if (draft.capabilityId !== undefined) return []
  return [
    createDiagnostic('plan/rao', {
      constraint: `"${id}" has an answer that a RAO contract can decide on`,
      nodeId: id,
      suggestion:
        draft.body === undefined
          ? 'Move the contract to the nodes that it routes to'
          : 'Move the contract to the nodes of its body',
    }),
  ]
}

function unreadable(
  error: RaoError,
  { id, capabilityId, what }: { readonly id: string; readonly capabilityId?: string; readonly what: string },
): Diagnostic {
  return createDiagnostic('plan/rao', {
    constraint: `${what}: ${error.message}`,
    nodeId: id,
    capabilityId,
    details: { error: error.error, ...('field' in error && { field: error.field }) },
  })
}

/**
 * Checks RAO policies of the caller; nodes of bodies count, under their own ids. `draft` is the draft as given, with
 * inactive alternates.
 */
export function raoPolicies(resolved: Resolved, draft: Draft): readonly Diagnostic[] {
  const { runtime } = resolved.request.envelope.policies
  if (!runtime.some(isRaoPolicy)) return []
  const nodes = withBodies(resolved.nodes)
  return runtime.flatMap((policy, index) => {
    if (!isRaoPolicy(policy) || !policy.enabled) return []
    const at = `/policies/runtime/${index}`
    const contract = readRaoSettings(policy.rao)
    if (isRaoError(contract))
      return [
        createDiagnostic('plan/rao', {
          constraint: `RAO policy "${policy.id}": ${contract.message}`,
          constraintId: `policy:${policy.id}`,
          details: { pointer: `${at}/rao` },
        }),
      ]
    const isUsed = nodes.some(
      (node) => selectCapabilities(policy.selector, node, findAnswering(node, resolved.request)).length > 0,
    )
    return isUsed ? [] : [unused(policy, at, { nodes, draft, resolved })]
  })
}

interface Whole {
  readonly draft: Draft
  readonly nodes: readonly ResolvedNode[]
  readonly resolved: Resolved
}

/** An unknown name in a selector is an error; a known one that this plan does not use is not. */
function unused({ id, selector = {} }: RaoPolicy, at: string, whole: Whole): Diagnostic {
  const wrong = findUnknown(selector, whole)
  return createDiagnostic(wrong === undefined ? 'plan/rao-unused' : 'plan/rao-selector', {
    constraint: `RAO policy "${id}" selects a node`,
    constraintId: `policy:${id}`,
    suggestion: wrong?.suggestion ?? 'Change its selector: no node of this plan matches',
    details: { pointer: `${at}/selector${wrong ? `/${wrong.key}` : ''}` },
  })
}

function findUnknown(
  { nodeId, capabilityId, facet }: NonNullable<RaoPolicy['selector']>,
  { nodes, draft, resolved }: Whole,
): { readonly key: string; readonly suggestion: string } | undefined {
  const { capabilities, inactive, facets } = resolved.request
  const ids = nodes.map((node) => node.draft.id)
  const registered = [...capabilities.map((each) => each.capabilityId), ...(inactive?.keys() ?? [])]
  if (capabilityId !== undefined && !registered.includes(capabilityId))
    return { key: 'capabilityId', suggestion: name('Capability', capabilityId, registered) }
  if (facet !== undefined && !facets.some((each) => each.name === facet))
    return {
      key: 'facet',
      suggestion: name(
        'facet',
        facet,
        facets.map((each) => each.name),
      ),
    }
  if (nodeId === undefined || isLeftOut(nodeId, ids, draft)) return undefined
  return {
    key: 'nodeId',
    suggestion: ids.includes(nodeId)
      ? `The node "${nodeId}" does not match the rest of the selector, or calls nothing that reports a confidence`
      : name('Node', nodeId, ids),
  }
}

/** A node that was left out as inactive makes no calls to guard. */
function isLeftOut(nodeId: string, ids: readonly string[], { nodes }: Draft): boolean {
  const isHere = ({ id, body }: DraftNode): boolean => id === nodeId || (body?.nodes.some(isHere) ?? false)
  return !ids.includes(nodeId) && nodes.some(isHere)
}

function name(what: string, wanted: string, known: readonly string[]): string {
  const meant = closest(wanted, [...known])
  const hint = meant === undefined ? `There are ${known.slice(0, 10).join(', ')}` : `Did you mean "${meant}"?`
  return `${what} "${wanted}" not found. ${hint}`
}

// Determines which RAO contracts of policies and capabilities apply at a node, for each capability that may execute it.

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
function findAnswering({ draft }: ResolvedNode, { capabilities }: ProveRequest): Capability[] {
  const ids = [draft.capabilityId, ...(draft.alternates ?? [])]
  return [...new Set(ids)].flatMap((id) => {
    const found = id === undefined ? undefined : capabilities.find((each) => each.capabilityId === id)
    const reports = found && found.kind !== 'human' && !(found.kind === 'local' && builtinFunctions.has(id!))
    return reports ? [found] : []
  })
}

/** Returns the capabilities of a node that a selector matches; empty if the node does not match. */
function selectCapabilities(
  { nodeId, kind, facet, capabilityId }: RaoSelector = {},
  node: ResolvedNode,
  able: readonly Capability[],
): readonly Capability[] {
  if (nodeId !== undefined && node.draft.id !== nodeId) return []
  if (kind !== undefined && node.kind !== kind) return []
  if (facet !== undefined && !node.provenance.output.some((each) => each.facet === facet)) return []
  return able.filter((each) => capabilityId === undefined || each.capabilityId === capabilityId)
}
