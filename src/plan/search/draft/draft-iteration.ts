/**
 * One iteration of the search: builds a draft from the learned constraints. `search.ts` proves it and iterates if
 * necessary.
 */

import { isObject, type Json } from '../../../base/json.ts'
import type { Draft, DraftNode } from '../../../domain/plan.ts'
import { checkId, structureId } from '../../builtin-capabilities.ts'
import type { Goal } from '../../prove/goals/goals.ts'
import type { SearchSpace } from '../candidates/candidates.ts'
import { estimateTokens } from '../candidates/costs.ts'
import type { Priced, Pricing } from '../candidates/prices.ts'
import type { Choice } from '../search-request.ts'
import { type Assembled, assemble } from './assemble.ts'
import { type Chosen, choose } from './choose.ts'
import { explain, explainNode } from './explain.ts'
import { buildObjectSchema, describePostCondition } from './node-contracts.ts'
import {
  acceptsMoreInputs,
  addBrief,
  addCheck,
  type Enforcement,
  findExtraCandidates,
  getVariants,
  type Variants,
} from './policy-nodes.ts'
import { addFallback, findFallback, plannedRetry } from './resilience.ts'

/** Constraints learned from the proofs of earlier drafts. */
export interface LearnedConstraints extends Pricing {
  readonly enforcement: Enforcement
}

export interface DraftIteration {
  readonly draft: Draft
  readonly assembled: Assembled
  readonly constraints: readonly Goal[]
  readonly choices: readonly Choice[]
  readonly estimatedTokens: number
}

export function buildDraftIteration(priced: Priced, learned: LearnedConstraints): DraftIteration {
  const { space, goals, constraints, candidates, producers, left } = priced
  const { goal } = space
  const { shallow } = learned
  const first = choose(goals, producers, [])
  const more = findExtraCandidates(space, candidates, { producers, chosen: first })
  const chosen = more.length === 0 ? first : choose(goals, producers, more)
  const variants = getVariants(space)
  const assembled = assemble({
    space,
    chosen,
    demands: variants.demands,
    conditions: learned.enforcement.conditions,
    wishes: constraints
      .filter(({ level, condition }) => level === 'soft' && condition !== undefined)
      .map(({ constraint }) => describePostCondition(constraint.expr)),
    extraInstructions: collectExtraInstructions(chosen, variants, space),
    answerLast: !shallow && goal !== 'speed',
  })
  const grown = applyPolicies(assembled, { space, chosen, checked: learned.enforcement.checked, variants })
  const estimatedTokens = [...chosen.plannedNodes.values()]
    .filter(({ method }) => method !== 'done')
    .reduce((sum, { capability }) => sum + estimateTokens(capability), 0)
  return {
    draft: { ...grown.draft, metadata: { plannerRuntime: 'search', goal, estimatedTokens } },
    assembled,
    constraints,
    estimatedTokens,
    choices: [
      ...explain({ goals, chosen, producers, candidates, assembled }),
      ...left.map((id) => ({ wanted: id, because: 'its score is below the cut-off' })),
      ...grown.choices,
    ],
  }
}

/** Instruction lines about the number of variants and the reason for a new plan, for the nodes concerned. */
function collectExtraInstructions(
  chosen: Chosen,
  { property, count }: Variants,
  { request }: SearchSpace,
): ReadonlyMap<string, readonly string[]> {
  const byNode = new Map<string, string[]>()
  const rationale = request.phase === 'replan' ? request.trigger?.rationale : undefined
  for (const { key, uses, method } of chosen.plannedNodes.values()) {
    const lines: string[] = []
    if (
      count !== undefined &&
      uses.some(({ requirement }) => requirement.forAnswer && requirement.name === property)
    )
      lines.push(`Give exactly ${count} in "${property}".`)
    if (rationale !== undefined && method !== 'done')
      lines.push(`This is planned again, because: ${rationale}`)
    if (lines.length > 0) byNode.set(key, lines)
  }
  return byNode
}

// Adds to a draft what policies and constraints require: branches, briefs, checks and fallbacks, each only where it has
// an effect.

interface PolicyRequest {
  readonly space: SearchSpace
  readonly chosen: Chosen
  readonly checked: readonly Goal[]
  readonly variants: Variants
}

function applyPolicies(assembled: Assembled, { space, chosen, checked, variants }: PolicyRequest) {
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

// `branchVariants`: a branch node works out the direction of each variant before the variants are written (FLEX-28,
// DECISIONS 19).

interface Branch {
  readonly label: string
  readonly said?: string
}

/** Returns the requested branches: from `branchVariants`, a required kind, or the goal of diverse variants. */
function getBranches({ request, goal }: SearchSpace): readonly Branch[] {
  const { directives, topology } = request.envelope.policies.planner
  const said = directives?.['branchVariants']
  if (Array.isArray(said)) return said.map((entry: Json, i) => toBranch(entry, i))
  const count = topology?.variantCount
  const asked = topology?.requiredKinds?.includes('branch') ? (count ?? 2) : 0
  const diverse = goal === 'diversity' && (count ?? 0) > 1 ? (count ?? 0) : 0
  const wanted = typeof said === 'number' ? said : Math.max(asked, diverse)
  return Array.from({ length: Math.min(wanted, mostBranches) }, (_, i) => ({ label: `variant ${i + 1}` }))
}

const mostBranches = 50

function toBranch(entry: Json, index: number): Branch {
  if (typeof entry === 'string') return { label: entry, said: entry }
  const name = isObject(entry) ? (entry['label'] ?? entry['name'] ?? entry['id']) : undefined
  return { label: typeof name === 'string' ? name : `variant ${index + 1}`, said: JSON.stringify(entry) }
}

/** Adds the branches before `nodeId`; returns undefined if that node could not read them. */
function addBranches(
  { plannedNodes, nodeIds }: Assembled,
  draft: Draft,
  { branches, nodeId }: { readonly branches: readonly Branch[]; readonly nodeId: string },
): Draft | undefined {
  const target = draft.nodes.find(({ id }) => id === nodeId)
  const planned = plannedNodes.get(nodeId)
  if (
    target === undefined ||
    planned === undefined ||
    planned.method === 'done' ||
    !acceptsMoreInputs(planned.capability)
  )
    return undefined
  const nodes = branches.map((branch, i) =>
    branchNode(branch, { id: nodeIds.fresh(`branch_${i + 1}`), i, target }),
  )
  const directions = nodes.map(({ id }, i) => [getProperty(i), { node: id, pointer: `/${getProperty(i)}` }])
  const instruction = `Make one variant for each of ${branches.map((_, i) => `"${getProperty(i)}"`).join(', ')}, in this order.`
  const reader: DraftNode = {
    ...target,
    inputs: { ...target.inputs, ...Object.fromEntries(directions) },
    instructions: [target.instructions ?? '', instruction].join('\n'),
  }
  return {
    ...draft,
    nodes: draft.nodes.flatMap((node) => (node === target ? [...nodes, reader] : [node])),
  }
}

const getProperty = (i: number) => `direction${i + 1}`

function branchNode(
  { label, said }: Branch,
  { id, i, target }: { readonly id: string; readonly i: number; readonly target: DraftNode },
): DraftNode {
  const direction = {
    type: 'object',
    properties: { label: { type: 'string' }, direction: { type: 'string', minLength: 1 } },
    required: ['direction'],
  } as const
  return {
    id,
    kind: 'branch',
    label,
    capabilityId: structureId,
    retry: plannedRetry,
    contracts: { output: buildObjectSchema(new Map([[getProperty(i), [direction]]]), [getProperty(i)]) },
    inputs: {
      ...target.inputs,
      ...(target.inputs?.['inputs'] === undefined && { inputs: { envelope: '/inputs' } }),
    },
    instructions: `Work out the direction of one variant, "${label}", so that it differs from the others.${said === undefined || said === label ? '' : ` The caller says: ${said}`}`,
    rationale: `A branch of its own for "${label}"`,
    metadata: { branch: label },
  }
}
