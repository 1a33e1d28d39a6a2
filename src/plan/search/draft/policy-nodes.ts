/**
 * Adds what policies and hard constraints require beyond the contract: capabilities, kinds of nodes, and enforcers of
 * constraints on produced values.
 */

import type { Json } from '../../../base/json.ts'
import { tokens } from '../../../base/pointer.ts'
import type { Capability } from '../../../domain/capability.ts'
import type { Draft, DraftNode, Source } from '../../../domain/plan.ts'
import type { JsonSchema } from '../../../schema/json-schema.ts'
import { checkId, structureId } from '../../builtin-capabilities.ts'
import { isFacetList } from '../../catalog/ports.ts'
import type { Goal } from '../../prove/goals/goals.ts'
import { variantProperty } from '../../prove/obligations/policies.ts'
import type { Candidate, SearchSpace } from '../candidates/candidates.ts'
import type { CheapestProducers } from '../candidates/cheapest-producers.ts'
import { canMeet } from '../candidates/requirements.ts'
import type { Assembled } from './assemble.ts'
import { type Chosen, getNodeKey } from './choose.ts'
import { buildObjectSchema } from './node-contracts.ts'
import { plannedRetry } from './resilience.ts'

/** Returns candidates to include although no goal needs them. */
export function findExtraCandidates(
  space: SearchSpace,
  candidates: readonly Candidate[],
  { producers, chosen }: { readonly producers: CheapestProducers; readonly chosen: Chosen },
): readonly Candidate[] {
  const { selection, topology } = space.request.envelope.policies.planner
  const extra: Candidate[] = []
  const isTaken = (test: (capability: Capability) => boolean) =>
    [
      ...[...chosen.plannedNodes.values()].map(({ capability }) => capability),
      ...extra.map(({ capability }) => capability),
    ].some(test)
  const possible = candidates.filter(({ method }) => method === 'declared' || method === 'reduced')
  const findCheapest = (among: readonly Candidate[]) =>
    among.reduce<Candidate | undefined>((best, each) => {
      const cost = producers.getCost(each)
      if (cost === undefined) return best
      return best === undefined || cost < (producers.getCost(best) ?? 0) ? each : best
    }, undefined)
  for (const capabilityId of selection?.require ?? []) {
    if (isTaken((capability) => capability.capabilityId === capabilityId)) continue
    const candidate = findCheapest(
      possible.filter(({ capability }) => capability.capabilityId === capabilityId),
    )
    if (candidate !== undefined) extra.push(candidate)
  }
  for (const kind of topology?.requiredKinds ?? []) {
    if (isTaken(({ nodeKind }) => nodeKind === kind)) continue
    const candidate = findCheapest(
      possible.filter(
        ({ capability, needs }) => capability.nodeKind === kind && touches(needs, producers, chosen),
      ),
    )
    if (candidate !== undefined) extra.push(candidate)
  }
  return extra
}

/** Whether it reads the output of another node of the plan. */
function touches(needs: Candidate['needs'], producers: CheapestProducers, { plannedNodes }: Chosen): boolean {
  return needs.some((requirement) => {
    const producer = producers.of(requirement)?.producer
    return (
      producer !== undefined && 'candidate' in producer && plannedNodes.has(getNodeKey(producer.candidate))
    )
  })
}

const brief = {
  type: 'object',
  properties: {
    summary: { type: 'string', minLength: 1 },
    points: { type: 'array', items: { type: 'string' } },
  },
  required: ['summary', 'points'],
} as const

/** Adds a structuring node whose brief is read by the nodes that accept more inputs. */
export function addBrief({ plannedNodes, nodeIds }: Assembled, draft: Draft, space: SearchSpace): Draft {
  const readers = draft.nodes.filter(({ id }) => {
    const planned = plannedNodes.get(id)
    return planned !== undefined && planned.method !== 'done' && acceptsMoreInputs(planned.capability)
  })
  if (readers.length === 0) return draft
  const id = nodeIds.fresh('structure')
  const known = Object.keys(space.request.envelope.inputs).length > 0
  const node: DraftNode = {
    id,
    kind: 'structuring',
    label: 'Structure',
    capabilityId: structureId,
    retry: plannedRetry,
    contracts: { output: buildObjectSchema(new Map([['brief', [brief]]]), ['brief']) },
    ...(known && { inputs: { inputs: { envelope: '/inputs' } } }),
    instructions: 'Sum up the objective, the inputs and the special instructions for the nodes that follow.',
    rationale: 'The policies ask for a structuring node',
  }
  const nodes = draft.nodes.map((each) =>
    readers.includes(each)
      ? { ...each, inputs: { ...each.inputs, brief: { node: id, pointer: '/brief' } } }
      : each,
  )
  return { ...draft, nodes: [node, ...nodes] }
}

/** Whether the input contract accepts properties that it does not name. */
export function acceptsMoreInputs({ inputContract }: Capability): boolean {
  if (isFacetList(inputContract) || inputContract === true) return true
  return typeof inputContract === 'object' && !Object.hasOwn(inputContract, 'additionalProperties')
}

// `variantCount` as a requirement on the node that writes the variants.

export interface Variants {
  readonly property?: string
  readonly count?: number
  readonly demands: ReadonlyMap<string, JsonSchema>
}

/** Returns the number of variants as a requirement on the list that holds them, as far as the contract allows it (C39). */
export function getVariants({ request, goals }: SearchSpace): Variants {
  const { schema } = request.envelope.outputContract
  const property = variantProperty({ callerSchema: schema, slots: [] })
  const count = request.envelope.policies.planner.topology?.variantCount
  const requirement = goals.find(
    (goal) => goal.role === 'answer' && goal.requirement.name === property,
  )?.requirement
  if (property === undefined || count === undefined || requirement === undefined)
    return { demands: new Map(), ...(property !== undefined && { property }) }
  const exactly = { type: 'array', minItems: count, maxItems: count } as const
  if (!canMeet(requirement.schema, exactly)) return { property, demands: new Map() }
  return { property, count, demands: new Map([[property, exactly]]) }
}

export interface Enforcement {
  /** Post-conditions by node key. */
  readonly conditions: ReadonlyMap<string, readonly Json[]>
  /** Constraints left to a check. */
  readonly checked: readonly Goal[]
}

/**
 * Assigns hard constraints that depend on produced values to an enforcer: the node that supplies everything the
 * constraint reads (retried on violation), or a check after all of them.
 */
export function enforce(
  goals: readonly Goal[],
  { sources, plannedNodes }: Pick<Assembled, 'sources' | 'plannedNodes'>,
): Enforcement {
  const conditions = new Map<string, Json[]>()
  const checked: Goal[] = []
  for (const goal of goals) {
    const planned = plannedNodes.get(findOwner(goal, sources) ?? '')
    // A validation must not be pushed towards a verdict, and completed nodes cannot be retried.
    if (planned === undefined || planned.capability.nodeKind === 'validation' || planned.method === 'done')
      checked.push(goal)
    else conditions.set(planned.key, [...(conditions.get(planned.key) ?? []), goal.constraint.expr])
  }
  return { conditions, checked }
}

/** Returns the node whose output has everything that the constraint reads, under the same names. */
function findOwner({ paths }: Goal, sources: ReadonlyMap<string, Source>): string | undefined {
  const owners = paths.map(([root = '']) => {
    const source = sources.get(root)
    if (source !== undefined)
      return 'node' in source && tokens(source.pointer ?? '')[0] === root ? source.node : undefined
    const whole = sources.get('')
    return whole !== undefined && 'node' in whole && whole.pointer === undefined ? whole.node : undefined
  })
  return owners.length > 0 && new Set(owners).size === 1 ? owners[0] : undefined
}

/** Adds a check that reads what these constraints read; the whole answer if none is given. */
export function addCheck(assembled: Assembled, draft: Draft, goals: readonly Goal[]): Draft {
  const roots = new Set(goals.flatMap(({ paths }) => paths.map(([root = '']) => root)))
  const read = [...assembled.sources].filter(([name]) => roots.size === 0 || roots.has(name) || name === '')
  const inputs = read.map(([name, source]): [string, Source] => [name === '' ? 'answer' : name, source])
  if (inputs.length === 0) return draft
  const ids = goals.map(({ constraint }) => constraint.constraintId)
  const node: DraftNode = {
    id: assembled.nodeIds.fresh('check'),
    kind: 'validation',
    label: 'Check',
    capabilityId: checkId,
    inputs: Object.fromEntries(inputs),
    rationale: ids.length > 0 ? `Evaluates ${ids.join(', ')}` : 'The policies ask for a validation',
  }
  return { ...draft, nodes: [...draft.nodes, node] }
}
