/**
 * What decisions need to know about the capabilities of a catalog: their properties, the ones that the rest of a run needs
 * and this process does not have, and the candidates for a plan.
 */
import type { Ask, Decision, RejectAction } from '../domain/ask.ts'
import type { Capability } from '../domain/capability.ts'
import type { ConsideredCapability, EventPayloads } from '../domain/event.ts'
import { isAgent, mostModelCalls } from '../domain/loop/agent-settings.ts'
import { listDownstream } from '../domain/plan/downstream.ts'
import type { Draft, DraftNode, PlanNode } from '../domain/plan.ts'
import { isRaoPolicy } from '../domain/policy.ts'
import type { Catalog } from '../domain/ports/catalog.ts'
import type { Considered, DraftRequest } from '../domain/ports/planner.ts'
import type { NodeState, RunState } from '../domain/run.ts'
import { modelSettingsIn } from '../domain/settings/model-settings.ts'
import { promptLimits, shortlist } from '../plan/index.ts'
import type { DecisionContext, PlanningInput } from './events.ts'

/** Kinds whose text and values are untrusted by default. */
const untrustedKinds: readonly string[] = ['model', 'http', 'mcp', 'scripted', 'fetch']

/** Returns a lookup of the properties that decisions depend on. */
export function knowCapabilities(
  untrusted: readonly string[] = untrustedKinds,
): (catalog: Catalog) => DecisionContext['capability'] {
  const strange = new Set(untrusted)
  // By capability, which never changes: asked for several times per attempt. Those of models also depend on the catalog.
  const others = new WeakMap<Capability, NonNullable<ReturnType<DecisionContext['capability']>>>()
  return (catalog) => (capabilityId) => {
    const known = catalog.capability(capabilityId)
    if (!known) return undefined
    if (known.kind === 'model') return readProperties(catalog, known)
    const found = others.get(known) ?? readProperties(catalog, known)
    others.set(known, found)
    return found
  }

  function readProperties(catalog: Catalog, known: Capability) {
    const { idempotent, sideEffect, kind, cost, human } = known
    const own = modelSettingsIn(known.settings)
    return {
      kind,
      idempotent,
      sideEffect,
      untrusted: strange.has(kind),
      tokens: cost?.estimatedTokens ?? 0,
      ...(human && { human }),
      ...(kind === 'model' && own && { modelSettings: own }),
      ...(kind === 'model' && isAgent(known) && { turns: mostModelCalls(known, catalog.capability) }),
    }
  }
}

export interface Answer {
  readonly requestId: string
  readonly decision: Decision
  readonly rejectAction?: RejectAction
}

/**
 * Finds the capabilities that the rest of a run needs and this process does not have. With a plan, every node that is not settled may still run. Before there is a plan, checks the draft that was submitted
 * with the run, which would be rejected here. `answer`: the decision that a person is about to submit.
 */
export function missingCapabilities(
  state: RunState,
  capability: DecisionContext['capability'],
  answer?: Answer,
): string[] {
  const missing = new Set<string>()
  const ends = state.finished !== undefined || (answer !== undefined && endsRun(state, answer))
  const need = (capabilityId: string) => {
    if (capability(capabilityId) === undefined) missing.add(capabilityId)
  }
  if (ends) return []
  const again = answer ? reopenedBy(state, answer) : new Set()
  for (const node of state.nodes.values()) {
    const isDone = settled.has(node.status) || isAnswered(state, node, answer)
    if (node.node.routing || (isDone && !again.has(node.node.id))) continue
    if (node.node.body) for (const capabilityId of usedIn(node.node.body.nodes)) need(capabilityId)
    else need(getCandidate(node))
  }
  if (!state.plan) for (const capabilityId of usedIn(state.draft?.nodes ?? [])) need(capabilityId)
  return [...missing]
}

/** Returns the capabilities of nodes, including those of bodies. */
function usedIn(nodes: readonly Pick<PlanNode, 'capabilityId' | 'body'>[] | readonly DraftNode[]): string[] {
  return nodes.flatMap(({ capabilityId, body }) => [
    ...(capabilityId === undefined ? [] : [capabilityId]),
    ...(body ? usedIn(body.nodes) : []),
  ])
}

/** Returns the capability to call: the node's own, or the current alternate. */
export function getCandidate({ node, candidate }: NodeState): string {
  return (candidate === 0 ? node.capabilityId : node.alternates?.[candidate - 1]) ?? ''
}

const settled: ReadonlySet<NodeState['status']> = new Set(['completed', 'error', 'skipped'])

/** Returns the action that follows a rejection. */
function actionAfter(ask: Ask, { rejectAction }: Answer): string {
  return rejectAction ?? ask.rejectAction?.type ?? 'fail'
}

/** Returns the nodes that a rejection reopens. */
function reopenedBy({ asks, plan }: RunState, answer: Answer): ReadonlySet<string> {
  const ask = asks.get(answer.requestId)
  if (!ask || answer.decision !== 'reject' || actionAfter(ask, answer) !== 'retry') return new Set()
  const producers = ask.producers ?? []
  return new Set([...producers, ...(plan ? listDownstream(plan, producers) : [])])
}

/** Whether a rejection ends the run: it rejects the answer, or a node without an edge for its failure. */
function endsRun(state: RunState, answer: Answer): boolean {
  const { requestId, decision } = answer
  const ask = state.asks.get(requestId)
  if (
    !ask ||
    decision !== 'reject' ||
    ask.toolCall ||
    ask.policyId !== undefined ||
    actionAfter(ask, answer) !== 'fail'
  )
    return false
  if (ask.nodeId === undefined) return true
  return (state.outgoing.get(ask.nodeId) ?? []).every(({ when }) => when === 'pass')
}

/** Whether the decision settles the node of its ask, rather than allowing an attempt. */
function isAnswered(state: RunState, { node }: NodeState, answer: Answer | undefined): boolean {
  const ask = answer && state.asks.get(answer.requestId)
  if (!ask || ask.nodeId !== node.id) return false
  switch (ask.kind) {
    case 'side_effect':
    case 'unknown_outcome':
      return answer.decision !== 'approve'
    case 'clarify':
      return answer.decision !== 'answer'
    case 'tool':
      return false
    default:
      return true
  }
}

// The input of a planning request: the policies and the candidate capabilities, as `plan_requested` records them.

/** Maximum number of capabilities in one request: as many as the prompt of a model planner holds. */
const rowCap = promptLimits.capabilities

/**
 * Selects the capabilities that the draft names, or else the ones on a path from the given to the wanted facets, plus the
 * ones that the caller requires. The catalog can change, so the journal records the result.
 */
export function considerCapabilities(state: RunState, catalog: Catalog): PlanningInput {
  const active = catalog.capabilities()
  const alive = new Set(active.map(({ capabilityId }) => capabilityId))
  const row = (id: string): ConsideredCapability => {
    const known = catalog.capability(id)
    const status = alive.has(id) ? 'active' : known ? 'inactive' : 'unknown'
    return { id, name: known?.displayName ?? id, status }
  }
  const { ids, count, missing, considered } =
    state.plan || !state.draft ? findOnPath(state, catalog) : listNamed(state)
  return {
    recorded: {
      capabilities: [...new Set([...ids, ...missing])].slice(0, rowCap).map(row),
      crcs: { total: active.length, considered: count, rowCap, missing },
    },
    ...(considered && { considered }),
  }
}

interface Found {
  readonly ids: readonly string[]
  readonly count: number
  readonly missing: readonly string[]
  readonly considered?: Considered
}

function listNamed({ draft }: RunState): Found {
  const ids = [...new Set(draft ? listCandidates(draft) : [])].filter((id) => id !== undefined)
  return { ids, count: ids.length, missing: [] }
}

/** Returns the capabilities that a draft names, including alternates and those of its bodies. */
function listCandidates({ nodes }: Draft): readonly (string | undefined)[] {
  return nodes.flatMap(({ capabilityId, alternates = [], body }) => [
    capabilityId,
    ...alternates,
    ...(body ? listCandidates(body) : []),
  ])
}

function findOnPath(state: RunState, catalog: Catalog): Found {
  const { envelope } = state
  const request = {
    envelope,
    facets: catalog.facets(),
    capabilities: catalog.capabilities(),
    completed: completedNodes(state),
  }
  try {
    const { capabilities, cut, lost, considered } = shortlist(request, rowCap)
    const ids = capabilities.map(({ capabilityId }) => capabilityId)
    return { ids, count: ids.length + cut, missing: lost, considered }
  } catch {
    // The contract cannot be searched: the planner fails on it next, and its rejection says why.
    return { ids: [], count: 0, missing: [] }
  }
}

type PolicyFields = Pick<EventPayloads['plan_requested'], 'policies' | 'policyMetadata' | 'variantCount'>

/** Lists the caller's policies by name: planner settings and runtime policies. */
export function policyFields({ envelope }: RunState): PolicyFields {
  const { planner, runtime } = envelope.policies
  const { topology = {}, selection = {}, optimisation = {}, directives = {} } = planner
  const groups = { topology, selection, optimisation, directives }
  return {
    policies: runtime.map(({ id }) => id),
    policyMetadata: {
      planner: Object.entries(groups).flatMap(([group, said]) =>
        Object.keys(said).map((key) => `${group}.${key}`),
      ),
      runtime: runtime.map((policy) => ({
        id: policy.id,
        enabled: policy.enabled,
        ...(isRaoPolicy(policy)
          ? { trigger: 'onAnswer', action: 'rao' }
          : { trigger: policy.trigger.kind, action: policy.action.type }),
      })),
    },
    ...(topology.variantCount !== undefined && { variantCount: topology.variantCount }),
  }
}

/** Returns the completed nodes of a run, as input for planning the rest. */
export function completedNodes(state: RunState): DraftRequest['completed'] {
  return [...state.nodes.values()].flatMap(({ node, status, output, instance }) => {
    // A new plan names maps and loops, not the nodes of their items and rounds.
    if (status !== 'completed' || !output || instance !== undefined) return []
    const { id, capabilityId, instructions } = node
    return [
      {
        id,
        ...(capabilityId !== undefined && { capabilityId }),
        ...(instructions && { instructions }),
        output: output.value,
      },
    ]
  })
}
