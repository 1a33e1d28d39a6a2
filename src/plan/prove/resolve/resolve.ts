/** Resolves a draft: the contracts of its nodes, its edges, and the sources of every value. */
import type { NodeKind } from '../../../domain/capability.ts'
import type { Condition } from '../../../domain/contract.ts'
import type { Diagnostic } from '../../../domain/diagnostic.ts'
import { type DraftNode, isIterated, type Source } from '../../../domain/plan.ts'
import { anyOf } from '../../../schema/build/composite-schemas.ts'
import { membersOf } from '../../../schema/build/project.ts'
import { createGraph } from '../graph.ts'
import type { ProveRequest, Resolved, ResolvedNode, Slot } from '../proof-request.ts'
import { scenariosOf } from '../scenarios/scenarios.ts'
import { isBinding, nodesIn, owns, schemaOf, sourcesOf } from '../sources.ts'
import { candidatesFor, chooseSources, needsOf, requiredBeside, rootsOf, supplyOf, wantedBy } from './bind.ts'
import { type ContractCache, contractsOf, problemWith, routedOutput } from './contracts.ts'
import { edgesOf } from './edges.ts'
import { resolveBody } from './resolve-body.ts'

type Unbound = Omit<ResolvedNode, 'inputs' | 'needs'>
type Known = Omit<Resolved, 'slots' | 'diagnostics' | 'nodes'>

export function resolveDraft(request: ProveRequest): Resolved {
  const { draft, envelope } = request
  const diagnostics: Diagnostic[] = []
  const declared = resolveNodes(request, diagnostics)
  const supply = supplyOf(declared)
  const unbound = declared.map(passingOn)
  const edges = edgesOf(draft, unbound, supply)
  const graph = createGraph(
    unbound.map(({ id }) => id),
    edges,
  )
  const byId = new Map(unbound.map((node) => [node.id, { ...node, inputs: {}, needs: [] } as ResolvedNode]))
  const candidates = new Map(
    unbound.map((node) => [node.id, candidatesOf(node, { request, byId, graph, supply })]),
  )
  // Scenarios need only these: dropping irrelevant sources changes none of them.
  const needs = new Map(
    unbound.map(({ id, input }) => [id, needsOf(input, candidates.get(id) ?? {}, { byId, request })]),
  )
  const scenarios = scenariosOf(
    unbound.map((node) => node.draft),
    { graph, needs },
  )
  const given = envelope.outputContract.schema
  const problem = problemWith(given, request, { constraint: "the caller's schema can be used" })
  if (problem !== undefined) diagnostics.push(problem)
  const known: Known = { request, byId, graph, scenarios, supply, callerSchema: problem ? true : given }
  for (const node of unbound) {
    const inputs = inputsOf(node, { ...known, candidates: candidates.get(node.id) ?? {} }, diagnostics)
    byId.set(node.id, { ...node, inputs, needs: needsOf(node.input, inputs, known) })
  }
  const slots = slotsOf(known, diagnostics)
  return { ...known, nodes: unbound.map(({ id }) => byId.get(id) as ResolvedNode), slots, diagnostics }
}

/** Adds the inputs of a routing node to its output. */
function passingOn(node: Unbound): Unbound {
  return node.draft.routing === undefined ? node : { ...node, output: routedOutput(node.draft, node) }
}

/** Of nodes with the same id only the first is resolved; the shape obligation reports the others. */
function resolveNodes(request: ProveRequest, diagnostics: Diagnostic[]): Unbound[] {
  const capabilities = new Map(request.capabilities.map((each) => [each.capabilityId, each]))
  const cache: ContractCache = new Map()
  const drafts = new Map<string, DraftNode>()
  for (const draft of request.draft.nodes) if (!drafts.has(draft.id)) drafts.set(draft.id, draft)
  const resolved = new Map<string, Unbound>()
  /** Ids being resolved. Maps and loops are resolved after their sources, because their contracts follow from them. */
  const open = new Set<string>()
  const resolveNode = (draft: DraftNode): Unbound => {
    const known = resolved.get(draft.id)
    if (known !== undefined) return known
    const capability = draft.capabilityId === undefined ? undefined : capabilities.get(draft.capabilityId)
    open.add(draft.id)
    const { diagnostics: found, ...contracts } = isIterated(draft)
      ? resolveBody(draft, { request, supplied, resolve: resolveDraft })
      : contractsOf(draft, capability, { request, cache })
    open.delete(draft.id)
    diagnostics.push(...found)
    const node: Unbound = {
      id: draft.id,
      draft,
      capability,
      kind: kindOf(draft, capability?.nodeKind),
      postConditions: [
        ...(capability?.postConditions ?? []),
        ...(draft.postConditions ?? []),
        ...exitCondition(draft),
      ],
      ...contracts,
      requires: requiredBeside({ draft, input: contracts.input }),
    }
    resolved.set(draft.id, node)
    return node
  }
  /** On a cycle nothing is known; the graph obligation reports it. */
  const supplied = (sources: readonly Source[]) => {
    const nodes = nodesIn(sources).flatMap((id) => drafts.get(id) ?? [])
    if (nodes.some(({ id }) => open.has(id))) return { schema: true, exact: false }
    const byId = new Map(
      nodes.map((node) => [node.id, { ...passingOn(resolveNode(node)), inputs: {}, needs: [] }]),
    )
    const found = sources.map((source) => schemaOf(source, { request, byId }))
    return {
      schema: anyOf(found.map(({ schema }) => schema)),
      exact: found.length === 1 && found.every(({ exact }) => exact),
    }
  }
  return [...drafts.values()].map(resolveNode)
}

/**
 * Returns the exit condition as a post-condition: if a loop fails without it, it holds of every state the loop returns.
 */
function exitCondition({ loop }: DraftNode): readonly Condition[] {
  return loop?.until === undefined || loop.onMaxRounds === 'accept' ? [] : [loop.until]
}

function kindOf(node: DraftNode, usual: NodeKind | undefined): NodeKind {
  if (isIterated(node)) return node.map === undefined ? 'loop' : 'map'
  return node.kind ?? (node.routing === undefined ? (usual ?? 'execution') : 'routing')
}

/** Returns for each input its explicit sources, or all sources of its name. */
function candidatesOf(
  node: Unbound,
  known: Omit<Known, 'scenarios' | 'callerSchema'>,
): ResolvedNode['inputs'] {
  const explicit = node.draft.inputs ?? {}
  // The contracts of a map or a loop depend on its bindings, so they cannot be used to find bindings.
  const names = new Set([...Object.keys(explicit), ...(isIterated(node.draft) ? [] : wantedBy(node))])
  const inputs = [...names].map((name): [string, readonly Source[]] => {
    const said = Object.hasOwn(explicit, name) ? explicit[name] : undefined
    return [
      name,
      said === undefined ? candidatesFor({ property: name, nodeId: node.id }, known) : sourcesOf(said),
    ]
  })
  return Object.fromEntries(inputs.filter(([, sources]) => sources.length > 0))
}

function inputsOf(
  { id, draft }: Unbound,
  known: Known & { readonly candidates: ResolvedNode['inputs'] },
  diagnostics: Diagnostic[],
): ResolvedNode['inputs'] {
  const inputs = Object.entries(known.candidates).map(([property, sources]) => {
    if (draft.inputs?.[property] !== undefined && Object.hasOwn(draft.inputs, property))
      return [property, sources]
    const bound = chooseSources({ property, nodeId: id }, sources, known)
    diagnostics.push(...bound.diagnostics)
    return [property, bound.sources]
  })
  return Object.fromEntries(inputs)
}

/** Returns the slots of the answer, whole or by property, and of values that only constraints read. */
function slotsOf(known: Known, diagnostics: Diagnostic[]): Slot[] {
  const { output } = known.request.draft
  const inAnswer = true
  const choose = (property: string, sources: readonly Source[]) => {
    const bound = chooseSources({ property }, sources, known)
    diagnostics.push(...bound.diagnostics)
    return bound.sources
  }
  const byName = (property: string) => choose(property, candidatesFor({ property }, known))
  const answer = (): Slot[] => {
    if (isBinding(output)) return [{ prefix: [], sources: sourcesOf(output), inAnswer }]
    const explicit = output?.properties ?? {}
    const names = new Set([
      ...Object.keys(explicit),
      ...membersOf(known.callerSchema).map(({ name }) => name),
    ])
    if (names.size === 0) return [{ prefix: [], sources: choose('', lastNodes(known)), inAnswer }]
    return [...names].map((name) => {
      const said = Object.hasOwn(explicit, name) ? explicit[name] : undefined
      return { prefix: [name], sources: said === undefined ? byName(name) : sourcesOf(said), inAnswer }
    })
  }
  const slots = answer()
  const held = (name: string) =>
    slots.some(({ prefix, sources }) =>
      prefix.length === 0 ? sources.some((source) => owns(source, [name], known)) : prefix[0] === name,
    )
  const wanted = known.request.envelope.outputContract.constraints.flatMap(({ expr }) => rootsOf(expr))
  for (const name of new Set(wanted)) {
    const sources = held(name) ? [] : byName(name)
    if (sources.length > 0) slots.push({ prefix: [name], sources, inAnswer: false })
  }
  return slots
}

/** Returns the nodes without successors, the last of the draft first: the answer if it has no named properties. */
function lastNodes({ graph }: Known): Source[] {
  return [...graph.order]
    .reverse()
    .filter((id) => !(graph.outgoing.get(id) ?? []).some(({ when }) => when !== 'fail'))
    .map((node) => ({ node }))
}
