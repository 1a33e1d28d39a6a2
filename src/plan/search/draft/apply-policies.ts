/**
 * Adds to a draft what policies and constraints require: branches, briefs, checks and fallbacks, each only where it has
 * an effect.
 */
import type { Draft } from '../../../domain/plan.ts'
import { checkId, structureId } from '../../builtin-capabilities.ts'
import type { Goal } from '../../prove/goals/goals.ts'
import type { SearchSpace } from '../candidates/candidates.ts'
import type { Variants } from '../candidates/variants.ts'
import type { Choice } from '../search-request.ts'
import type { Assembled } from './assemble.ts'
import { addBranches, getBranches } from './branches.ts'
import type { Chosen } from './choose.ts'
import { addCheck } from './enforce.ts'
import { explainNode } from './explain.ts'
import { addBrief } from './policy-nodes.ts'
import { addFallback, findFallback } from './resilience.ts'

interface PolicyRequest {
  readonly space: SearchSpace
  readonly chosen: Chosen
  readonly checked: readonly Goal[]
  readonly variants: Variants
}

export function applyPolicies(assembled: Assembled, { space, chosen, checked, variants }: PolicyRequest) {
  const { requiredKinds = [] } = space.request.envelope.policies.planner.topology ?? {}
  const { require = [] } = space.request.envelope.policies.planner.selection ?? {}
  const able = new Set(space.allowed.map(({ capabilityId }) => capabilityId))
  const kinds = () => new Set(draft.nodes.map(({ kind }) => kind))
  const uses = (capabilityId: string) => draft.nodes.some((node) => node.capabilityId === capabilityId)
  const choices: Choice[] = []
  let draft: Draft = {
    ...assembled.draft,
    nodes: assembled.draft.nodes.map((node) => addRationale(node, assembled)),
  }

  const branches = isForbidden('branch', space) ? [] : getBranches(space)
  if (branches.length > 0) {
    const nodeId = findVariantWriter(assembled, variants.property)
    const grown =
      able.has(structureId) && nodeId ? addBranches(assembled, draft, { branches, nodeId }) : undefined
    draft = grown ?? draft
    const because = grown
      ? 'a direction of its own for each variant'
      : 'no node could work them out or read them'
    choices.push({
      wanted: `${branches.length} branches`,
      ...(grown && nodeId && { taken: nodeId }),
      because,
    })
  }
  const shouldAddBrief =
    (requiredKinds.includes('structuring') && !kinds().has('structuring')) ||
    (require.includes(structureId) && !uses(structureId))
  if (shouldAddBrief && able.has(structureId)) draft = addBrief(assembled, draft, space)
  const withFallbacks = addFallbacks(assembled, draft, {
    space,
    chosen,
    always: requiredKinds.includes('fallback'),
  })
  draft = withFallbacks.draft
  choices.push(...withFallbacks.choices)
  const shouldAddCheck =
    (requiredKinds.includes('validation') && !kinds().has('validation')) || require.includes(checkId)
  if (able.has(checkId) && (checked.length > 0 || shouldAddCheck)) draft = addCheck(assembled, draft, checked)
  return { draft, choices }
}

function addRationale(node: Draft['nodes'][number], { plannedNodes }: Assembled) {
  const planned = plannedNodes.get(node.id)
  return planned === undefined ? node : { ...node, rationale: explainNode(planned) }
}

function isForbidden(kind: string, { request }: SearchSpace): boolean {
  return (request.envelope.policies.planner.topology?.forbiddenKinds ?? []).includes(kind)
}

/** Returns the node that writes the variants, or else that of the first part of the answer. */
function findVariantWriter({ sources }: Assembled, property: string | undefined): string | undefined {
  const source = sources.get(property ?? '') ?? sources.get('') ?? sources.values().next().value
  return source !== undefined && 'node' in source ? source.node : undefined
}

/**
 * Adds fallback nodes for nodes that supply the answer, if a fallback capability is registered or the policies require
 * one.
 */
function addFallbacks(
  { plannedNodes, nodeIds }: Assembled,
  draft: Draft,
  {
    space,
    chosen,
    always,
  }: { readonly space: SearchSpace; readonly chosen: Chosen; readonly always: boolean },
) {
  let grown = draft
  const choices: Choice[] = []
  if (isForbidden('fallback', space)) return { draft, choices }
  const capabilities = space.allowed
  for (const [nodeId, planned] of plannedNodes) {
    const isPart = [...chosen.met].some(
      ([{ role }, by]) => role !== 'aside' && 'candidate' in by && planned.candidates.includes(by.candidate),
    )
    if (!isPart || planned.method === 'done') continue
    const worker = findFallback(planned.capability, capabilities, { facets: space.facets, always })
    if (worker === undefined) continue
    const id = nodeIds.fresh(`${nodeId}_fallback`)
    grown = addFallback({ draft: grown, nodeId, capability: planned.capability, worker, id })
    choices.push({
      wanted: `a fallback for ${nodeId}`,
      taken: id,
      because: `${worker.capabilityId} can replace it`,
    })
  }
  return { draft: grown, choices }
}
