/** Assembles a draft from the chosen nodes: ids, bindings, contracts, instructions, and the sources of the answer. */
import type { Json } from '../../../base/json.ts'
import { child } from '../../../base/pointer.ts'
import type { Draft, DraftNode, Source } from '../../../domain/plan.ts'
import type { JsonSchema } from '../../../schema/json-schema.ts'
import { isFacetList } from '../../catalog/ports.ts'
import type { SearchSpace } from '../candidates/candidates.ts'
import { createNodeIds, toNodeName } from '../candidates/candidates.ts'
import type { Producer } from '../candidates/cheapest-producers.ts'
import type { SearchGoal } from '../candidates/requirements.ts'
import type { Chosen, PlannedNode } from './choose.ts'
import {
  buildInputContract,
  buildOutputContract,
  type Demands,
  instructionsFor,
  isOpenNode,
  sortByCallerHints,
} from './node-contracts.ts'
import { planFailureHandling } from './resilience.ts'

interface Assembly {
  readonly space: SearchSpace
  readonly chosen: Chosen
  readonly demands: Demands
  /** Post-conditions by node key. */
  readonly conditions: ReadonlyMap<string, readonly Json[]>
  /** Soft constraints in human-readable form. */
  readonly wishes: readonly string[]
  /** Additional instruction lines, by node key. */
  readonly extraInstructions: ReadonlyMap<string, readonly string[]>
  /** The open answer waits for what the others supply; otherwise it runs in parallel. */
  readonly answerLast: boolean
}

export interface Assembled {
  readonly draft: Draft
  /** Nodes in construction, by node id. */
  readonly plannedNodes: ReadonlyMap<string, PlannedNode>
  readonly ids: ReadonlyMap<PlannedNode, string>
  /** The source of each property that constraints read. */
  readonly sources: ReadonlyMap<string, Source>
  readonly nodeIds: ReturnType<typeof createNodeIds>
}

export function assemble(assembly: Assembly): Assembled {
  const { space, chosen } = assembly
  const { request } = space
  const nodeIds = createNodeIds(request)
  const ids = new Map<PlannedNode, string>()
  for (const planned of chosen.plannedNodes.values()) {
    const [candidate] = planned.candidates
    if (candidate !== undefined) ids.set(planned, candidate.doneId ?? nodeIds.fresh(toNodeName(candidate)))
  }
  const toSource = (producer: Producer): Source => {
    if ('given' in producer) return producer.given
    const node = ids.get(findPlannedNode(producer, chosen) as PlannedNode) as string
    return producer.port === '' ? { node } : { node, pointer: child('', producer.port) }
  }
  const { output, sources } = bindAnswer(chosen, toSource, space)
  const inputs = new Map([...ids.keys()].map((planned) => [planned, bindInputs(planned, assembly, toSource)]))
  const answer = chosen.plannedNodes.get('answer')
  if (answer !== undefined && assembly.answerLast) {
    for (const [name, source] of findOtherParts(answer, assembly, { toSource, inputs, ids })) {
      inputs.get(answer)?.set(name, source)
    }
  }
  const nodes = [...ids].map(([planned, id]) =>
    buildNode(planned, { id, inputs: Object.fromEntries(inputs.get(planned) ?? []), assembly }),
  )
  const draft: Draft = { nodes: sortTopologically(nodes), ...(output !== undefined && { output }) }
  return {
    draft,
    ids,
    plannedNodes: new Map([...ids].map(([planned, id]) => [id, planned])),
    sources,
    nodeIds,
  }
}

function findPlannedNode(
  producer: Extract<Producer, { candidate: unknown }>,
  { plannedNodes }: Chosen,
): PlannedNode | undefined {
  return [...plannedNodes.values()].find(({ candidates }) => candidates.includes(producer.candidate))
}

/** Binds the answer and the values that constraints read. */
function bindAnswer(chosen: Chosen, toSource: (producer: Producer) => Source, { request }: SearchSpace) {
  const sources = new Map<string, Source>()
  const whole = [...chosen.met].find(([{ role }]) => role === 'whole')
  for (const [{ requirement, role }, producer] of chosen.met) {
    if (role === 'aside' || (role === 'answer' && whole === undefined))
      sources.set(requirement.name, toSource(producer))
  }
  if (whole !== undefined) {
    const source = toSource(whole[1])
    sources.set('', source)
    return { output: source, sources }
  }
  const parts = [...chosen.met.keys()]
    .filter(({ role }) => role === 'answer')
    .map(({ requirement }) => requirement.name)
  if (parts.length === 0) return { output: undefined, sources }
  const properties = sortByCallerHints(parts, request.envelope).map((name) => [
    name,
    sources.get(name) as Source,
  ])
  return { output: { properties: Object.fromEntries(properties) }, sources }
}

type Inputs = Map<string, Source>

/** Binds the inputs of a node; open nodes receive all inputs of the envelope. */
function bindInputs(
  planned: PlannedNode,
  { space }: Assembly,
  toSource: (producer: Producer) => Source,
): Inputs {
  const inputs: Inputs = new Map([...planned.inputs].map(([name, producer]) => [name, toSource(producer)]))
  const known = Object.keys(space.request.envelope.inputs).length > 0
  if (isOpenNode(planned) && known && planned.method !== 'transformation' && !inputs.has('inputs'))
    inputs.set('inputs', { envelope: '/inputs' })
  return inputs
}

/**
 * Returns the parts of the answer that other nodes supply, as input for the open answer; excludes nodes that depend on
 * it.
 */
function findOtherParts(
  answer: PlannedNode,
  { chosen }: Assembly,
  {
    toSource,
    inputs,
    ids,
  }: {
    readonly toSource: (producer: Producer) => Source
    readonly inputs: ReadonlyMap<PlannedNode, Inputs>
    readonly ids: ReadonlyMap<PlannedNode, string>
  },
): [string, Source][] {
  const self = ids.get(answer) as string
  const byId = new Map([...ids].map(([planned, id]) => [id, planned]))
  const waitsForIt = (id: string, seen = new Set<string>()): boolean => {
    if (id === self) return true
    if (seen.has(id)) return false
    seen.add(id)
    const planned = byId.get(id)
    const sources = planned === undefined ? [] : [...(inputs.get(planned)?.values() ?? [])]
    return sources.some((source) => 'node' in source && waitsForIt(source.node, seen))
  }
  return [...chosen.met].flatMap(([{ requirement }, producer]): [string, Source][] => {
    const source = toSource(producer)
    return requirement.name !== '' && 'node' in source && !waitsForIt(source.node)
      ? [[requirement.name, source]]
      : []
  })
}

interface NodeRequest {
  readonly id: string
  readonly inputs: NonNullable<DraftNode['inputs']>
  readonly assembly: Assembly
}

function buildNode(planned: PlannedNode, { id, inputs, assembly }: NodeRequest): DraftNode {
  const { space, demands, chosen, wishes } = assembly
  const { capability, method } = planned
  const { envelope } = space.request
  const optional = optionalPorts(planned, [...chosen.met.keys()])
  const conditions = assembly.conditions.get(planned.key) ?? []
  const output = buildOutputContract(planned, demands, optional)
  const input = buildInputContract(planned)
  const facets = getUsedFacets(planned)
  const last = planned.uses.some(({ requirement }) => requirement.forAnswer)
  const more = assembly.extraInstructions.get(planned.key) ?? []
  const judged = planned.uses.some(({ requirement }) => requirement.paths.length > 0)
  const { avoid = [] } = envelope.policies.planner.selection ?? {}
  return {
    id,
    kind: method === 'transformation' ? 'transformation' : capability.nodeKind,
    label: capability.displayName,
    capabilityId: capability.capabilityId,
    ...(method === 'derived' && { derived: true }),
    ...(facets && { facets }),
    ...((input ?? output) !== undefined && { contracts: sides(input, output) }),
    ...(Object.keys(inputs).length > 0 && { inputs }),
    instructions:
      getCompletedInstructions(planned, space) ??
      instructionsFor({ planned, envelope, last, conditions, wishes, more }),
    ...(conditions.length > 0 && { postConditions: conditions }),
    ...planFailureHandling(planned, {
      capabilities: space.allowed,
      facets: space.facets,
      avoid,
      judged,
    }),
    metadata: { way: method },
  }
}

/** Completed nodes keep their instructions: different ones would execute them again. */
function getCompletedInstructions(
  { candidates, method }: PlannedNode,
  { request }: SearchSpace,
): string | undefined {
  if (method !== 'done') return undefined
  return request.completed?.find(({ id }) => id === candidates[0]?.doneId)?.instructions ?? ''
}

function sides(input: JsonSchema | undefined, output: JsonSchema | undefined) {
  return { ...(input !== undefined && { input }), ...(output !== undefined && { output }) }
}

/** Returns the ports of the open answer that only optional goals use. */
function optionalPorts(planned: PlannedNode, goals: readonly SearchGoal[]): ReadonlySet<string> {
  const required = new Set(goals.filter((goal) => goal.required).map(({ requirement }) => requirement))
  const names = planned.uses.map(({ port }) => port)
  return new Set(
    planned.method === 'answer'
      ? names.filter(
          (name) => !planned.uses.some(({ port, requirement }) => port === name && required.has(requirement)),
        )
      : [],
  )
}

/** Returns the facets in use: all inputs, and the outputs that other nodes read. */
function getUsedFacets({ capability, candidates, uses }: PlannedNode): DraftNode['facets'] | undefined {
  const [candidate] = candidates
  const { inputContract, outputContract, postConditions } = capability
  const used = new Set(uses.map(({ port }) => port))
  const taken = candidate?.supplies.filter(({ name }) => used.has(name)).flatMap(({ facets }) => facets) ?? []
  const all = postConditions.length > 0 || taken.length === 0
  const input = isFacetList(inputContract) ? (candidate?.inputFacets ?? inputContract) : undefined
  const output = isFacetList(outputContract)
    ? (candidate?.outputFacets ?? (all ? outputContract : taken.map(({ name }) => name)))
    : undefined
  if (input === undefined && output === undefined) return undefined
  return { ...(input && { input }), ...(output && { output }) }
}

/** Sorts nodes topologically by their bindings. */
function sortTopologically(nodes: readonly DraftNode[]): readonly DraftNode[] {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const visited = new Set<string>()
  const order: DraftNode[] = []
  const visit = (node: DraftNode) => {
    if (visited.has(node.id)) return
    visited.add(node.id)
    for (const source of Object.values(node.inputs ?? {}).flat() as Source[]) {
      const before = 'node' in source ? byId.get(source.node) : undefined
      if (before !== undefined) visit(before)
    }
    order.push(node)
  }
  for (const node of nodes) visit(node)
  return order
}
