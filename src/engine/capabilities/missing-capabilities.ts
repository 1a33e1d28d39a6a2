/** Finds the capabilities that the rest of a run needs and this process does not have. */
import type { Ask, Decision, RejectAction } from '../../domain/ask.ts'
import { listDownstream } from '../../domain/plan/downstream.ts'
import type { DraftNode, PlanNode } from '../../domain/plan.ts'
import type { Catalog } from '../../domain/ports/catalog.ts'
import type { NodeState, RunState } from '../../domain/run.ts'
import type { DecisionContext } from '../events.ts'

// Returns what the decision logic needs to know about the capabilities of a catalog.

/** Kinds whose text and values are untrusted by default. */
const untrustedKinds: readonly string[] = ['model', 'http', 'mcp', 'scripted']

export function knowCapabilities(
  untrusted: readonly string[] = untrustedKinds,
): (catalog: Catalog) => DecisionContext['capability'] {
  const strange = new Set(untrusted)
  return (catalog) => (capabilityId) => {
    const known = catalog.capability(capabilityId)
    if (!known) return undefined
    const { idempotent, sideEffect, kind, cost } = known
    return { kind, idempotent, sideEffect, untrusted: strange.has(kind), tokens: cost?.estimatedTokens ?? 0 }
  }
}

export interface Answer {
  readonly requestId: string
  readonly decision: Decision
  readonly rejectAction?: RejectAction
}

/**
 * With a plan, every node that is not settled may still run. Before there is a plan, checks the draft that was submitted
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
  return [node.capabilityId, ...(node.alternates ?? [])][candidate] ?? ''
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
  if (!ask || decision !== 'reject' || ask.policyId !== undefined || actionAfter(ask, answer) !== 'fail')
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
    default:
      return true
  }
}
