/** Reopens nodes so that they run again, and withdraws the asks about their old values. */

import type { NewEvent } from '../../../domain/event.ts'
import { listDownstream } from '../../../domain/plan/downstream.ts'
import type { Plan } from '../../../domain/plan.ts'
import { isInside } from '../../../domain/run/body-instance.ts'
import type { RunState } from '../../../domain/run.ts'
import { factsFor } from '../../events.ts'
import { expireFact } from './asks.ts'

/** Returns the graph that contains a node: its item or round, or the plan. */
function getGraph(state: RunState, nodeId = ''): Pick<Plan, 'nodes' | 'edges'> {
  const instance = state.instances.get(state.nodes.get(nodeId)?.instance ?? '')
  if (!instance) return state.plan ?? { nodes: [], edges: [] }
  const nodes = instance.nodes.flatMap((id) => state.nodes.get(id)?.node ?? [])
  return { nodes, edges: nodes.flatMap(({ id }) => state.outgoing.get(id) ?? []) }
}

/**
 * Reopens the producers of a rejected value and all nodes downstream. First expires the asks about values that will be
 * produced again: a reply to one would be about a value that no longer counts.
 */
export function reopenFacts(
  state: RunState,
  now: number,
  { requestId, nodes }: { readonly requestId: string; readonly nodes: readonly string[] },
): NewEvent[] {
  const ask = state.asks.get(requestId)
  const downstream = listDownstream(getGraph(state, nodes[0]), nodes)
  const round = (state.reworks.get(ask?.nodeId ?? '') ?? 0) + 1
  return [
    ...staleAskFacts(state, now, [...nodes, ...downstream]),
    factsFor(state, now)('nodes_reopened', { requestId, nodes, downstream, round }, { nodeId: ask?.nodeId }),
  ]
}

function staleAskFacts(state: RunState, now: number, again: readonly string[]): NewEvent[] {
  const facts: NewEvent[] = []
  let audit = state.audit
  for (const id of state.openAsks) {
    const { nodeId = '', policyId } = state.asks.get(id) ?? {}
    // An ask of a policy is about the run, regardless of the node where it started.
    if (policyId !== undefined || !again.some((each) => nodeId === each || isInside(nodeId, each))) continue
    const event = expireFact({ ...state, audit }, now, { requestId: id, note: 'The value is made again' })
    if (event.type === 'hitl_resolved') audit = event.payload.audit.hash
    facts.push(event)
  }
  return facts
}
