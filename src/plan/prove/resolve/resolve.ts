/** Resolves a draft: the contracts of its nodes, its edges, and the sources of every value. */
import type { NodeKind } from '../../../domain/capability.ts'
import type { Condition } from '../../../domain/contract.ts'
import type { Diagnostic } from '../../../domain/diagnostic.ts'
import {
  type Draft,
  type DraftNode,
  type Edge,
  isIterated,
  type PlanEdge,
  type Source,
} from '../../../domain/plan.ts'
import { buildAnyOf } from '../../../schema/build/composite-schemas.ts'
import { listMembers } from '../../../schema/build/project.ts'
import { createGraph } from '../graph.ts'
import type { ProveRequest, Resolved, ResolvedNode, Slot, Supply } from '../proof-request.ts'
import { listRouteTargets } from '../scenarios/scenario.ts'
import { buildScenarios } from '../scenarios/scenarios.ts'
import { getSourceSchema, isBinding, nodesIn, owns, toSources } from '../sources.ts'
import {
  buildSupply,
  candidatesFor,
  chooseSources,
  listConditionRoots,
  listNeeds,
  requiredBeside,
  wantedBy,
} from './bind.ts'
import { type ContractCache, problemWith, resolveContracts, routedOutput } from './contracts.ts'
import { resolveBody } from './resolve-body.ts'

type Unbound = Omit<ResolvedNode, 'inputs' | 'needs'>
type Known = Omit<Resolved, 'slots' | 'diagnostics' | 'nodes'>

export function resolveDraft(request: ProveRequest): Resolved {
  const { draft, envelope } = request
  const diagnostics: Diagnostic[] = []
  const declared = resolveNodes(request, diagnostics)
  const supply = buildSupply(declared)
  const unbound = declared.map(passingOn)
  const edges = buildEdges(draft, unbound, supply)
  const graph = createGraph(
    unbound.map(({ id }) => id),
    edges,
  )
  const byId = new Map(unbound.map((node) => [node.id, { ...node, inputs: {}, needs: [] } as ResolvedNode]))
  const candidates = new Map(
    unbound.map((node) => [node.id, findCandidates(node, { request, byId, graph, supply })]),
  )
  // Scenarios need only these: dropping irrelevant sources changes none of them.
  const needs = new Map(
    unbound.map(({ id, input }) => [id, listNeeds(input, candidates.get(id) ?? {}, { byId, request })]),
  )
  const scenarios = buildScenarios(
    unbound.map((node) => node.draft),
    { graph, needs },
  )
  const given = envelope.outputContract.schema
  const problem = problemWith(given, request, { constraint: "the caller's schema can be used" })
  if (problem !== undefined) diagnostics.push(problem)
  const known: Known = { request, byId, graph, scenarios, supply, callerSchema: problem ? true : given }
  for (const node of unbound) {
    const inputs = getInputs(node, { ...known, candidates: candidates.get(node.id) ?? {} }, diagnostics)
    byId.set(node.id, { ...node, inputs, needs: listNeeds(node.input, inputs, known) })
  }
  const slots = buildSlots(known, diagnostics)
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
      : resolveContracts(draft, capability, { request, cache })
    open.delete(draft.id)
    diagnostics.push(...found)
    const node: Unbound = {
      id: draft.id,
      draft,
      capability,
      kind: getKind(draft, capability?.nodeKind),
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
    const found = sources.map((source) => getSourceSchema(source, { request, byId }))
    return {
      schema: buildAnyOf(found.map(({ schema }) => schema)),
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

function getKind(node: DraftNode, usual: NodeKind | undefined): NodeKind {
  if (isIterated(node)) return node.map === undefined ? 'loop' : 'map'
  return node.kind ?? (node.routing === undefined ? (usual ?? 'execution') : 'routing')
}

/** Returns for each input its explicit sources, or all sources of its name. */
function findCandidates(
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
      said === undefined ? candidatesFor({ property: name, nodeId: node.id }, known) : toSources(said),
    ]
  })
  return Object.fromEntries(inputs.filter(([, sources]) => sources.length > 0))
}

function getInputs(
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
function buildSlots(known: Known, diagnostics: Diagnostic[]): Slot[] {
  const { output } = known.request.draft
  const inAnswer = true
  const choose = (property: string, sources: readonly Source[]) => {
    const bound = chooseSources({ property }, sources, known)
    diagnostics.push(...bound.diagnostics)
    return bound.sources
  }
  const byName = (property: string) => choose(property, candidatesFor({ property }, known))
  const answer = (): Slot[] => {
    if (isBinding(output)) return [{ prefix: [], sources: toSources(output), inAnswer }]
    const explicit = output?.properties ?? {}
    const names = new Set([
      ...Object.keys(explicit),
      ...listMembers(known.callerSchema).map(({ name }) => name),
    ])
    if (names.size === 0) return [{ prefix: [], sources: choose('', lastNodes(known)), inAnswer }]
    return [...names].map((name) => {
      const said = Object.hasOwn(explicit, name) ? explicit[name] : undefined
      return { prefix: [name], sources: said === undefined ? byName(name) : toSources(said), inAnswer }
    })
  }
  const slots = answer()
  const held = (name: string) =>
    slots.some(({ prefix, sources }) =>
      prefix.length === 0 ? sources.some((source) => owns(source, [name], known)) : prefix[0] === name,
    )
  const wanted = known.request.envelope.outputContract.constraints.flatMap(({ expr }) =>
    listConditionRoots(expr),
  )
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

type Node = Omit<ResolvedNode, 'inputs' | 'needs'>

/**
 * Builds the edges of a plan. Control edges are those of the draft, the targets of routes, and the failures that
 * fallback nodes handle. Data edges come from bindings: they order nodes and activate none.
 */
function buildEdges(draft: Draft, nodes: readonly Node[], supply: Supply): PlanEdge[] {
  const position = new Map(nodes.map(({ id }, index) => [id, index]))
  const links = createLinks(position)
  const fallbacks = new Set(nodes.flatMap(({ id, kind }) => (kind === 'fallback' ? [id] : [])))
  for (const edge of draft.edges ?? [])
    links.control({ when: fallbacks.has(edge.to) ? 'fail' : 'pass', ...edge })
  for (const { draft: node, id } of nodes)
    for (const to of listRouteTargets(node)) if (!links.has(id, to, 'always')) links.control({ from: id, to })
  for (const { draft: node, id } of nodes)
    for (const from of nodesIn(Object.values(node.inputs ?? {}).flatMap(toSources))) links.data(from, id)
  const context: Context = { nodes, supply, position, links }
  for (const node of nodes)
    for (const from of replacedBy(node, context)) links.control({ from, to: node.id, when: 'fail' })
  addEdgesByName(context, { all: (draft.edges ?? []).length === 0 })
  return links.all()
}

interface Context {
  readonly nodes: readonly Node[]
  readonly supply: Supply
  readonly position: ReadonlyMap<string, number>
  readonly links: Links
}

/** Mutable collection of edges. */
interface Links {
  control(edge: Edge): void
  /** Adds a data edge, unless a control edge already orders the two nodes. */
  data(from: string, to: string): void
  has(from: string, to: string, when: Edge['when']): boolean
  into(id: string): readonly PlanEdge[]
  getOutgoing(id: string): readonly PlanEdge[]
  /** Control edges first. */
  all(): PlanEdge[]
}

function createLinks(known: ReadonlyMap<string, unknown>): Links {
  const edges = new Map<string, PlanEdge>()
  const joined = new Set<string>()
  const into = new Map([...known.keys()].map((id): [string, PlanEdge[]] => [id, []]))
  const outgoing = new Map([...known.keys()].map((id): [string, PlanEdge[]] => [id, []]))
  const add = (edge: PlanEdge) => {
    const { from, to, when } = edge
    const key = `${from}\n${to}\n${when}`
    if (!known.has(from) || !known.has(to) || from === to || edges.has(key)) return
    edges.set(key, edge)
    joined.add(`${from}\n${to}`)
    into.get(to)?.push(edge)
    outgoing.get(from)?.push(edge)
  }
  return {
    control: ({ from, to, when = 'pass' }) => add({ from, to, when, kind: 'control' }),
    data(from, to) {
      if (!joined.has(`${from}\n${to}`)) add({ from, to, when: 'pass', kind: 'data' })
    },
    has: (from, to, when) => edges.has(`${from}\n${to}\n${when}`),
    into: (id) => into.get(id) ?? [],
    getOutgoing: (id) => outgoing.get(id) ?? [],
    all: () => [...edges.values()],
  }
}

/**
 * Returns the nodes whose failure activates a fallback node without other activation: the nodes before it that supply
 * the same (of several fallbacks the last), else those after it.
 */
function replacedBy(node: Node, { nodes, supply, position, links }: Context): readonly string[] {
  if (node.kind !== 'fallback' || links.into(node.id).some(({ kind }) => kind === 'control')) return []
  const here = position.get(node.id) ?? 0
  const after = reachedFrom(node.id, links)
  const named = new Set(listMembers(node.output).flatMap(({ name }) => supply.get(name) ?? []))
  const same = nodes.filter(({ id }) => named.has(id) && !after.has(id))
  const before = same.filter(({ id }) => (position.get(id) ?? 0) < here)
  const fallbacks = before.filter(({ kind }) => kind === 'fallback')
  if (fallbacks.length > 0) return fallbacks.slice(-1).map(({ id }) => id)
  const others =
    before.length > 0 ? before : same.filter(({ id, kind }) => id !== node.id && kind !== 'fallback')
  return others.map(({ id }) => id)
}

/**
 * Orders nodes without draft edges by data: each input waits for the last preceding node that supplies it. If that node
 * may be skipped, the supplier before it is waited for as well.
 */
function addEdgesByName(context: Context, { all }: { readonly all: boolean }): void {
  const { nodes, links } = context
  const skippable = new Set<string>()
  const isConditional = ({ from, to, when }: PlanEdge) =>
    when === 'fail' || listRouteTargets(nodes[context.position.get(from) ?? -1]?.draft).has(to)
  const spread = (id: string) => {
    skippable.add(id)
    for (const each of reachedFrom(id, links)) skippable.add(each)
  }
  for (const { id } of nodes) if (links.into(id).some(isConditional)) spread(id)
  for (const node of nodes) {
    if (all || !links.into(node.id).some(({ kind }) => kind === 'control'))
      for (const from of findSuppliers(node, context, skippable)) links.data(from, node.id)
    if (!skippable.has(node.id) && links.into(node.id).some(({ from }) => skippable.has(from)))
      spread(node.id)
  }
}

function findSuppliers(
  node: Node,
  { supply, position, links }: Context,
  skippable: ReadonlySet<string>,
): string[] {
  const here = position.get(node.id) ?? 0
  const waiting = reachedFrom(node.id, links)
  return wantedBy(node).flatMap((name) => {
    if (node.draft.inputs !== undefined && Object.hasOwn(node.draft.inputs, name)) return []
    const suppliers = (supply.get(name) ?? []).filter((id) => !waiting.has(id))
    const before = suppliers.filter((id) => (position.get(id) ?? 0) < here).reverse()
    const after = before.length > 0 || suppliers.includes(node.id) ? [] : suppliers
    const certain = before.findIndex((id) => !skippable.has(id))
    return [...before.slice(0, certain < 0 ? before.length : certain + 1), ...after.slice(0, 1)]
  })
}

/** Returns all descendants of a node, along edges of either kind. */
function reachedFrom(id: string, { getOutgoing }: Links): ReadonlySet<string> {
  const found = new Set<string>()
  const stack = [id]
  for (let at = stack.pop(); at !== undefined; at = stack.pop())
    for (const { to } of getOutgoing(at)) {
      if (found.has(to)) continue
      found.add(to)
      stack.push(to)
    }
  return found
}
