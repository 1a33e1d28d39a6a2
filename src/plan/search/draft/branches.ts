/**
 * `branchVariants`: a branch node works out the direction of each variant before the variants are written (FLEX-28,
 * DECISIONS 19).
 */
import { isObject, type Json } from '../../../base/json.ts'
import type { Draft, DraftNode } from '../../../domain/plan.ts'
import { structureId } from '../../builtin-capabilities.ts'
import { plannedRetry } from '../../planned-retries.ts'
import type { SearchSpace } from '../candidates/candidates.ts'
import type { Assembled } from './assemble.ts'
import { buildObjectSchema } from './node-contracts.ts'
import { acceptsMoreInputs } from './policy-nodes.ts'

interface Branch {
  readonly label: string
  readonly said?: string
}

/** Returns the requested branches: from `branchVariants`, a required kind, or the goal of diverse variants. */
export function getBranches({ request, goal }: SearchSpace): readonly Branch[] {
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
export function addBranches(
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
  const directions = nodes.map(({ id }, i) => [propertyOf(i), { node: id, pointer: `/${propertyOf(i)}` }])
  const instruction = `Make one variant for each of ${branches.map((_, i) => `"${propertyOf(i)}"`).join(', ')}, in this order.`
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

const propertyOf = (i: number) => `direction${i + 1}`

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
    contracts: { output: buildObjectSchema(new Map([[propertyOf(i), [direction]]]), [propertyOf(i)]) },
    inputs: {
      ...target.inputs,
      ...(target.inputs?.['inputs'] === undefined && { inputs: { envelope: '/inputs' } }),
    },
    instructions: `Work out the direction of one variant, "${label}", so that it differs from the others.${said === undefined || said === label ? '' : ` The caller says: ${said}`}`,
    rationale: `A branch of its own for "${label}"`,
    metadata: { branch: label },
  }
}
