/**
 * Removes what cannot be used from a draft: alternates, and nodes that only a failure activates, if their capability
 * cannot run here, and alternates whose contracts do not fit. Each removal is a diagnostic with the reason. Nodes that
 * every run needs stay, and the check of capabilities rejects them.
 */

import { canonicalJson } from '../../base/canonical.ts'
import { isObject, jsonEqual } from '../../base/json.ts'
import { child } from '../../base/pointer.ts'
import type { Capability } from '../../domain/capability.ts'
import type { Diagnostic } from '../../domain/diagnostic.ts'
import type { Binding, Draft, DraftNode, Edge, PlanNode } from '../../domain/plan.ts'
import { describeSource } from '../../domain/run/bound-values.ts'
import { both } from '../../schema/build/combine.ts'
import { listMembers, project } from '../../schema/build/project.ts'
import type { JsonSchema } from '../../schema/json-schema.ts'
import { isVacant } from '../../schema/values/schema-values.ts'
import { createDiagnostic } from '../diagnostics.ts'
import { wholeInput } from './obligations/whole.ts'
import type { ProveRequest, Resolved, ResolvedNode } from './proof-request.ts'
import { resolveContracts } from './resolve/contracts.ts'
import { bodyPath, inBody } from './resolve/resolve-body.ts'
import { listRouteTargets } from './scenarios/scenario.ts'
import { getSourceSchema, isBinding, nodesIn, toSources, valuesAt } from './sources.ts'

interface DraftWithoutInactive {
  readonly draft: Draft
  readonly diagnostics: readonly Diagnostic[]
}

type Reasons = ReadonlyMap<string, string>

export function leaveOutInactive({ draft, capabilities, inactive }: ProveRequest): DraftWithoutInactive {
  if (inactive === undefined || inactive.size === 0) return { draft, diagnostics: [] }
  const alive = new Set(capabilities.map(({ capabilityId }) => capabilityId))
  return inDraft(draft, new Map([...inactive].filter(([id]) => !alive.has(id))))
}

function inDraft(draft: Draft, inactive: Reasons): DraftWithoutInactive {
  const diagnostics: Diagnostic[] = []
  const nodes = draft.nodes.map((node) => {
    const { alternates = [] } = node
    const silent = alternates.filter((id) => inactive.has(id))
    diagnostics.push(...silent.map((id) => leftOut(node, id, inactive)))
    const body = node.body && inDraft(node.body, inactive)
    diagnostics.push(
      ...(body?.diagnostics ?? []).map((each) => ({ ...each, nodeId: bodyPath(node, each.nodeId) })),
    )
    if (silent.length === 0 && (body === undefined || body.draft === node.body)) return node
    return {
      ...node,
      ...(silent.length > 0 && { alternates: alternates.filter((id) => !inactive.has(id)) }),
      ...(body && { body: body.draft }),
    }
  })
  const changed = nodes.some((node, at) => node !== draft.nodes[at])
  const kept = changed ? { ...draft, nodes } : draft
  const lost = nodes.filter(({ capabilityId }) => capabilityId !== undefined && inactive.has(capabilityId))
  if (lost.length === 0) return { draft: kept, diagnostics }
  const activations = findActivations(kept)
  const fallbacks = lost.filter((node) => isOnlyForFailures(node, activations))
  const ids = fallbacks.map(({ id }) => id)
  const without = ids.length > 0 ? withoutNodes(kept, ids, activations) : undefined
  if (without === undefined) return { draft: kept, diagnostics }
  diagnostics.push(...fallbacks.map((node) => leftOut(node, node.capabilityId ?? '', inactive)))
  return { draft: without, diagnostics }
}

function leftOut({ id }: DraftNode, capabilityId: string, inactive: Reasons): Diagnostic {
  return createDiagnostic('plan/stand-in-inactive', {
    constraint: `capability "${capabilityId}" is a valid alternate or fallback of "${id}"`,
    nodeId: id,
    capabilityId,
    suggestion: `It is inactive and left out of the plan: ${inactive.get(capabilityId)}`,
  })
}

interface Activation extends Edge {
  readonly routed?: boolean
}

type Activations = ReadonlyMap<string, readonly Activation[]>

/** Indexes control edges by target: those of the draft, and routes. */
function findActivations({ nodes, edges = [] }: Draft): Activations {
  const routes = nodes.flatMap((node) =>
    [...listRouteTargets(node)].map((to): Activation => ({ from: node.id, to, routed: true })),
  )
  const into = new Map<string, Activation[]>(nodes.map(({ id }) => [id, []]))
  for (const edge of [...edges, ...routes]) into.get(edge.to)?.push(edge)
  return into
}

function isOnlyForFailures({ id, kind }: DraftNode, activations: Activations): boolean {
  const into = activations.get(id) ?? []
  if (into.length === 0) return kind === 'fallback'
  return into.every(({ when, routed }) => when === 'fail' && !routed)
}

/**
 * Returns the draft without these nodes and the nodes that only they activate; undefined if another node reads nothing
 * but them.
 */
function withoutNodes(draft: Draft, first: readonly string[], activations: Activations): Draft | undefined {
  const gone = new Set(first)
  for (let before = -1; before !== gone.size; ) {
    before = gone.size
    for (const [id, into] of activations)
      if (into.length > 0 && into.every(({ from }) => gone.has(from))) gone.add(id)
  }
  let isLost = false
  const kept = (binding: Binding): Binding => {
    const all = toSources(binding)
    const left = all.filter((source) => nodesIn([source]).every((id) => !gone.has(id)))
    if (left.length === all.length) return binding
    if (left.length === 0) isLost = true
    return left
  }
  const eachKept = (bindings: { readonly [name: string]: Binding }) =>
    Object.fromEntries(Object.entries(bindings).map(([name, binding]) => [name, kept(binding)]))
  const nodes = draft.nodes
    .filter(({ id }) => !gone.has(id))
    .map((node) => (node.inputs === undefined ? node : { ...node, inputs: eachKept(node.inputs) }))
  const { output, edges } = draft
  const without: Draft = {
    ...draft,
    nodes,
    ...(edges && { edges: edges.filter(({ from, to }) => !gone.has(from) && !gone.has(to)) }),
    ...(output !== undefined && {
      output: isBinding(output)
        ? kept(output)
        : { properties: eachKept(isObject(output.properties) ? output.properties : {}) },
    }),
  }
  return isLost ? undefined : without
}

// Checks alternates against their own contracts. An alternate that can never accept the inputs of its node, or never
// supplies its output, is removed from the plan with a diagnostic. If that depends on the values, the engine validates the
// inputs before it calls the alternate, and the answers against the alternate's output contract as well as the node's.

interface Fitting {
  readonly resolved: Resolved
  readonly diagnostics: readonly Diagnostic[]
}

export function leaveOutUnfit(resolved: Resolved): Fitting {
  const diagnostics: Diagnostic[] = []
  const capabilities = new Map(resolved.request.capabilities.map((each) => [each.capabilityId, each]))
  const nodes = resolved.nodes.map((node) => {
    const body = node.body && leaveOutUnfit(node.body)
    if (body) diagnostics.push(...inBody(node.draft, body.diagnostics))
    const { kept, contracts, found } = heldToContracts(node, capabilities, resolved)
    diagnostics.push(...found)
    const inner = body && body.resolved !== node.body ? { body: body.resolved } : {}
    if (kept === undefined) return 'body' in inner ? { ...node, ...inner } : node
    const draft = { ...node.draft, alternates: kept }
    return { ...node, ...inner, draft, ...(contracts && { alternateContracts: contracts }) }
  })
  if (nodes.every((node, at) => node === resolved.nodes[at])) return { resolved, diagnostics }
  const byId = new Map(nodes.map((node) => [node.id, node]))
  return { resolved: { ...resolved, nodes, byId }, diagnostics }
}

type Contracts = NonNullable<PlanNode['alternateContracts']>

interface Held {
  /** Undefined if the node has no alternates. */
  readonly kept?: readonly string[]
  /** Contracts of alternates that must satisfy more than the node's contracts. */
  readonly contracts?: Contracts
  readonly found: readonly Diagnostic[]
}

function heldToContracts(
  node: ResolvedNode,
  capabilities: ReadonlyMap<string, Capability>,
  resolved: Resolved,
): Held {
  const { alternates = [] } = node.draft
  if (alternates.length === 0 || node.capability === undefined) return { found: [] }
  const contracts: Record<string, Contracts[string]> = {}
  const found: Diagnostic[] = []
  const kept = alternates.filter((id) => {
    const capability = capabilities.get(id)
    // The shape obligation reports unknown capabilities.
    if (capability === undefined) return true
    const other = asAlternate(node, capability, resolved)
    const reason = reasonAgainst(node, other, resolved)
    if (reason !== undefined) {
      found.push(unfit(node, id, reason))
      return false
    }
    const contract = contractBeside(node, other, resolved)
    if (Object.keys(contract).length > 0) contracts[id] = contract
    return true
  })
  return { kept, found, ...(Object.keys(contracts).length > 0 && { contracts }) }
}

/** Returns the node as the alternate would execute it: with the alternate's contracts and the bound inputs. */
function asAlternate(node: ResolvedNode, capability: Capability, { request }: Resolved): ResolvedNode {
  const { facets: _, ...draft } = node.draft
  const { input, output } = resolveContracts(draft, capability, { request, cache: new Map() })
  return { ...node, capability, input, output }
}

/** Returns what the alternate must satisfy in addition to the contracts of the node. */
function contractBeside(node: ResolvedNode, other: ResolvedNode, resolved: Resolved): Contracts[string] {
  const output = both(node.output, neededOutput(node, other, resolved))
  const { postConditions = [] } = other.capability ?? {}
  const own = postConditions.filter((each) => !node.postConditions.some((known) => jsonEqual(known, each)))
  return {
    ...(!isAlike(other.input, node.input) && { input: other.input }),
    ...(!isAlike(output, node.output) && { output }),
    ...(own.length > 0 && { postConditions: own }),
  }
}

function isAlike(a: JsonSchema, b: JsonSchema): boolean {
  return canonicalJson(a as never) === canonicalJson(b as never)
}

/**
 * Returns the output facets that the node uses of the alternate; its whole output if a condition may refer to any of
 * them.
 */
function neededOutput(
  { draft }: ResolvedNode,
  { capability, output }: ResolvedNode,
  { request }: Resolved,
): JsonSchema {
  const { facets, ...rest } = draft
  const declared = capability?.outputContract
  const taken = Array.isArray(declared) ? declared.filter((name) => facets?.output?.includes(name)) : []
  if (taken.length === 0 || (capability?.postConditions ?? []).length > 0) return output
  const narrowed = { ...rest, facets: { output: taken } }
  return resolveContracts(narrowed, capability, { request, cache: new Map() }).output
}

/** Returns why the alternate can never replace the capability; undefined if it can. */
function reasonAgainst(node: ResolvedNode, other: ResolvedNode, resolved: Resolved): string | undefined {
  return inputReason(other, resolved) ?? outputReason(node, other)
}

function inputReason(other: ResolvedNode, resolved: Resolved): string | undefined {
  for (const { name, required } of listMembers(other.input)) {
    const sources = other.inputs[name] ?? []
    if (sources.length === 0 && required)
      return `it needs the input "${name}", which the node does not bind: bind inputs.${name} of "${other.id}"`
    const wanted = project(other.input, child('', name)).schema
    const isNever = (source: (typeof sources)[number]) => {
      const { schema } = getSourceSchema(source, resolved)
      // An absent value is not passed.
      return schema !== false && isVacant(both(schema, wanted))
    }
    if (sources.length > 0 && sources.every(isNever))
      return `its input "${name}" never accepts what ${sources.map(describeSource).join(' or ')} supplies`
  }
  const refused = refusedInput(other, resolved)
  if (refused !== undefined)
    return `its input is closed (additionalProperties) and does not take "${refused}", which the node binds`
  const never = wholeInput(other, resolved).find(({ severity }) => severity === 'hard')
  return never && `${never.constraint}, which never holds for what the node binds`
}

/** Returns an input that is always present but that a closed schema does not name. */
function refusedInput({ input, inputs }: ResolvedNode, resolved: Resolved): string | undefined {
  if (typeof input === 'boolean' || input['additionalProperties'] !== false) return undefined
  if (input['patternProperties'] !== undefined) return undefined
  const named = new Set(listMembers(input).map(({ name }) => name))
  return Object.entries(inputs).find(
    ([name, sources]) =>
      !named.has(name) && sources.some((source) => !valuesAt(source, [], resolved).missing),
  )?.[0]
}

/** Compares outputs: an output schema that names its members supplies no others. */
function outputReason(node: ResolvedNode, other: ResolvedNode): string | undefined {
  const declared = listMembers(other.output)
  for (const { name, required } of listMembers(node.output)) {
    const pointer = child('', name)
    const isNamed = declared.some((member) => member.name === name)
    if (required && !isNamed && declared.length > 0)
      return `it does not declare "${name}", which the output of "${node.id}" needs`
    if (
      required &&
      isNamed &&
      isVacant(both(project(other.output, pointer).schema, project(node.output, pointer).schema))
    )
      return `its "${name}" never satisfies the output contract of "${node.id}"`
  }
  return undefined
}

function unfit({ id }: ResolvedNode, capabilityId: string, reason: string): Diagnostic {
  return createDiagnostic('plan/stand-in-unfit', {
    constraint: `capability "${capabilityId}" is a valid alternate of "${id}"`,
    nodeId: id,
    capabilityId,
    suggestion: `It is left out of the plan: ${reason}`,
  })
}
