/** Which capabilities the rest of a run needs and this process does not know. */
import type { Ask, Decision, RejectAction } from '../domain/ask.ts'
import { downstreamOf } from '../domain/downstream.ts'
import type { DraftNode, PlanNode } from '../domain/plan.ts'
import type { NodeState, RunState } from '../domain/run.ts'
import type { Moment } from './fact.ts'

export interface Answer {
  readonly requestId: string
  readonly decision: Decision
  readonly rejectAction?: RejectAction
}

/**
 * By the plan in force: every node that is not settled may come to run. Before there is a plan, by the draft that came with
 * the run, which would be refused here. `answer` is what a person is about to decide.
 */
export function missingCapabilities(
  state: RunState,
  capability: Moment['capability'],
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
    else need(candidateOf(node))
  }
  if (!state.plan) for (const capabilityId of usedIn(state.draft?.nodes ?? [])) need(capabilityId)
  return [...missing]
}

/** The capabilities of nodes, those of bodies included. */
function usedIn(nodes: readonly Pick<PlanNode, 'capabilityId' | 'body'>[] | readonly DraftNode[]): string[] {
  return nodes.flatMap(({ capabilityId, body }) => [
    ...(capabilityId === undefined ? [] : [capabilityId]),
    ...(body ? usedIn(body.nodes) : []),
  ])
}

/** Who is to do the node: its own capability, or the stand-in whose turn it is. */
export function candidateOf({ node, candidate }: NodeState): string {
  return [node.capabilityId, ...(node.alternates ?? [])][candidate] ?? ''
}

const settled: ReadonlySet<NodeState['status']> = new Set(['completed', 'error', 'skipped'])

/** What a rejection leads to. */
function actionAfter(ask: Ask, { rejectAction }: Answer): string {
  return rejectAction ?? ask.rejectAction?.type ?? 'fail'
}

/** Nodes that a rejection sends back. */
function reopenedBy({ asks, plan }: RunState, answer: Answer): ReadonlySet<string> {
  const ask = asks.get(answer.requestId)
  if (!ask || answer.decision !== 'reject' || actionAfter(ask, answer) !== 'retry') return new Set()
  const producers = ask.producers ?? []
  return new Set([...producers, ...(plan ? downstreamOf(plan, producers) : [])])
}

/** A no after which nothing is left to do: the answer, or a node whose failure nothing is prepared for. */
function endsRun(state: RunState, answer: Answer): boolean {
  const { requestId, decision } = answer
  const ask = state.asks.get(requestId)
  if (!ask || decision !== 'reject' || ask.policyId !== undefined || actionAfter(ask, answer) !== 'fail')
    return false
  if (ask.nodeId === undefined) return true
  return (state.outgoing.get(ask.nodeId) ?? []).every(({ when }) => when === 'pass')
}

/** The decision settles the node of its ask, unless it lets the node be tried. */
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
