/** Failure handling of planned nodes: retries, alternate capabilities, or a fallback node. */
import type { Capability } from '../../../domain/capability.ts'
import type { Binding, Draft, DraftNode, Edge, Retry, Source } from '../../../domain/plan.ts'
import { both } from '../../../schema/build/combine.ts'
import { answerId, checkId, isBuiltin } from '../../builtin-capabilities.ts'
import { type FacetsByName, getPorts, isFacetList, standIns } from '../../catalog/ports.ts'
import { isBinding, toSources } from '../../prove/sources.ts'
import type { PlannedNode } from './choose.ts'

/** Maximum number of alternates of a node. */
const mostAlternates = 2

interface FailureHandlingRequest {
  readonly capabilities: readonly Capability[]
  readonly facets: FacetsByName
  /** Capabilities that the caller avoids. */
  readonly avoid: readonly string[]
  /** A hard constraint reads what the node supplies. */
  readonly judged: boolean
}

/**
 * Returns retries and alternates of a node. A validation is not retried, since that would repeat it until the verdict
 * is positive.
 */
export function planFailureHandling(
  planned: PlannedNode,
  request: FailureHandlingRequest,
): Pick<DraftNode, 'retry' | 'alternates'> {
  const { capability, method } = planned
  if (method === 'done' || capability.kind === 'human') return {}
  const judges = capability.nodeKind === 'validation' && request.judged
  // With side effects, an alternate could apply the same change twice.
  const isAlone = isBuiltin(capability.capabilityId) || capability.sideEffect
  const others = isAlone
    ? []
    : standIns(capability, request.capabilities, request.facets)
        .filter(
          ({ capabilityId, nodeKind }) => !request.avoid.includes(capabilityId) && nodeKind !== 'fallback',
        )
        .slice(0, mostAlternates)
        .map(({ capabilityId }) => capabilityId)
  return {
    ...retryFor(capability, { derived: method === 'derived', judges }),
    ...(others.length > 0 && { alternates: others }),
  }
}

interface FallbackRequest {
  readonly draft: Draft
  /** The node that may fail, and its capability. */
  readonly nodeId: string
  readonly capability: Capability
  readonly worker: Capability
  readonly id: string
}

/** Returns the fallback for a node: a capability registered as a fallback for its outputs, else the open answer. */
export function findFallback(
  node: Capability,
  capabilities: readonly Capability[],
  { facets, always }: { readonly facets: FacetsByName; readonly always: boolean },
): Capability | undefined {
  const names = getPorts(node, facets).supplies.map(({ name }) => name)
  const made = capabilities.filter(({ nodeKind }) => nodeKind === 'fallback')
  const able = standIns(node, made, facets)[0]
  if (able !== undefined || !always || names.includes('') || isBuiltin(node.capabilityId)) return able
  return capabilities.find(({ capabilityId }) => capabilityId === answerId)
}

/** Adds a fallback node: it runs when the other fails, and readers of that node read from either. */
export function addFallback({ draft, nodeId, capability, worker, id }: FallbackRequest): Draft {
  const node = draft.nodes.find((each) => each.id === nodeId)
  if (node === undefined) return draft
  const { label: _, retry: _retry, alternates: _alternates, derived: _derived, ...rest } = node
  const { outputContract } = capability
  const output = isFacetList(outputContract)
    ? node.contracts?.output
    : both(outputContract, node.contracts?.output ?? true)
  const fallback: DraftNode = {
    ...rest,
    id,
    kind: 'fallback',
    capabilityId: worker.capabilityId,
    ...retryFor(worker, { judges: false }),
    ...(output !== undefined && { contracts: { ...node.contracts, output } }),
    rationale: `Replaces "${nodeId}" when it has failed for good`,
  }
  const either = (source: Source): readonly Source[] =>
    'node' in source && source.node === nodeId ? [source, { ...source, node: id }] : [source]
  const rebind = (binding: Binding): Binding => toSources(binding).flatMap(either)
  const nodes = draft.nodes.map((each) => {
    const inputs = Object.entries(each.inputs ?? {}).map(([name, binding]) => [name, rebind(binding)])
    return each.inputs === undefined ? each : { ...each, inputs: Object.fromEntries(inputs) }
  })
  const edge: Edge = { from: nodeId, to: id, when: 'fail' }
  return {
    ...draft,
    nodes: [...nodes, fallback],
    edges: [...(draft.edges ?? []), edge],
    ...(draft.output && { output: outputWith(draft.output, rebind) }),
  }
}

function outputWith(output: NonNullable<Draft['output']>, rebind: (binding: Binding) => Binding) {
  if (isBinding(output)) return rebind(output)
  const properties = Object.entries(output.properties).map(([name, binding]) => [name, rebind(binding)])
  return { properties: Object.fromEntries(properties) }
}

// Default retries of the nodes that a planner creates: two with backoff. They are part of the draft, so that proof,
// estimate, journal and engine see the same number. Drafts submitted by a caller are not changed.

/** The delays are 0.5 s and 1 s. */
export const plannedRetry = { max: 2, backoffMs: 500 } as const satisfies Retry

/** Fewer retries for derived work, which a capability supports without declaring it. */
const derivedRetry = { max: 1, backoffMs: 500 } as const satisfies Retry

interface PlannedWork {
  readonly derived?: boolean | undefined
  /**
   * The node returns a verdict that the contract depends on; a retry would repeat the question until the verdict is
   * positive.
   */
  readonly judges: boolean
}

/** Returns no retry for people, checks, verdicts, and side effects that are not idempotent. */
function retryFor(capability: Capability, { derived, judges }: PlannedWork): Pick<DraftNode, 'retry'> {
  const { kind, capabilityId, sideEffect, idempotent } = capability
  if (kind === 'human' || capabilityId === checkId || judges || (sideEffect && !idempotent)) return {}
  return { retry: derived ? derivedRetry : plannedRetry }
}

/** Adds the default retry to every node without a `retry` of its own, nodes of bodies included. */
export function withRetries(draft: Draft, capabilities: readonly Capability[]): Draft {
  const byId = new Map(capabilities.map((capability) => [capability.capabilityId, capability]))
  const completed = (node: DraftNode): DraftNode => {
    if (node.body) return { ...node, body: { ...node.body, nodes: node.body.nodes.map(completed) } }
    const capability = byId.get(node.capabilityId ?? '')
    if (node.retry !== undefined || capability === undefined) return node
    const judges = (node.kind ?? capability.nodeKind) === 'validation'
    return { ...node, ...retryFor(capability, { derived: node.derived, judges }) }
  }
  return { ...draft, nodes: draft.nodes.map(completed) }
}
