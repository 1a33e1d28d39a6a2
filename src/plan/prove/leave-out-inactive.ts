/**
 * Removes alternates, and nodes that only a failure activates, if their capability cannot run here. Each removal is a
 * diagnostic with the reason. Nodes that every run needs stay, and the check of capabilities rejects them.
 */
import { isObject } from '../../base/json.ts'
import type { Diagnostic } from '../../domain/diagnostic.ts'
import type { Binding, Draft, DraftNode, Edge } from '../../domain/plan.ts'
import { createDiagnostic } from '../diagnostics.ts'
import type { ProveRequest } from './proof-request.ts'
import { bodyPath } from './resolve/resolve-body.ts'
import { targetsOf } from './scenarios/scenario.ts'
import { isBinding, nodesIn, sourcesOf } from './sources.ts'

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
  const activations = activationsOf(kept)
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
function activationsOf({ nodes, edges = [] }: Draft): Activations {
  const routes = nodes.flatMap((node) =>
    [...targetsOf(node)].map((to): Activation => ({ from: node.id, to, routed: true })),
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
    const all = sourcesOf(binding)
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
