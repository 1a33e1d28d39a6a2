/**
 * How settled nodes open or close the way for others. Every edge is settled exactly once, live or dead; a node with all
 * its edges settled is ready if one of them is live and skipped otherwise, so that branches which join never wait for one
 * that was not taken.
 */
import { firstKey, hasDoubts, turnTo } from './call-key.ts'
import type { Edge, Plan, PlanNode } from './plan.ts'
import type { NodeState, RunState } from './run.ts'
import type { NodeStatus } from './status.ts'

/** Puts a plan in force. Nodes that were settled under the version before and keep their id keep their outcome. */
export function installPlan(state: RunState, plan: Plan): void {
  const before = state.nodes
  keepDoubts(state)
  state.plan = plan
  state.planVersion = plan.version
  // Who approved or wrote the answer of another plan has not seen the one to come.
  delete state.finalReply
  state.nodes = new Map()
  state.outgoing = new Map()
  for (const set of [state.ready, state.running, state.judging, state.dead, state.fatal]) set.clear()
  for (const node of plan.nodes) {
    const carried = before.get(node.id)
    state.nodes.set(
      node.id,
      carried?.status === 'completed'
        ? { ...carried, node, open: 0, live: 0 }
        : fresh(node, plan.version, state.leftInDoubt.get(node.id) ?? carried),
    )
    state.leftInDoubt.delete(node.id)
    state.outgoing.set(node.id, [])
  }
  for (const edge of plan.edges) {
    state.outgoing.get(edge.from)?.push(edge)
    const target = state.nodes.get(edge.to)
    if (target) target.open++
  }
  for (const [id, timer] of state.timers) if (timer.purpose.kind === 'retry') state.timers.delete(id)
  state.unsettled = 0
  for (const node of state.nodes.values()) if (node.status !== 'completed') state.unsettled++
  for (const node of state.nodes.values()) {
    if (node.status === 'completed') followEdges(state, node)
    else if (node.open === 0) setStatus(state, node, 'ready')
  }
}

/** For nodes that the next plan may be without: what they may have done is not forgotten until a later one has them again. */
function keepDoubts({ nodes, leftInDoubt }: RunState): void {
  for (const [id, { key, unsure }] of nodes)
    if (unsure !== undefined || hasDoubts(key))
      leftInDoubt.set(id, { key, ...(unsure !== undefined && { unsure }) })
}

/** What may have taken effect under earlier versions is not forgotten: neither the key nor that a person has to be asked. */
function fresh(
  node: PlanNode,
  version: number,
  before: Pick<NodeState, 'key' | 'unsure'> | undefined,
): NodeState {
  const unsure = before?.unsure
  return {
    node,
    status: 'pending',
    open: 0,
    live: 0,
    started: false,
    attempts: 0,
    candidate: 0,
    failures: 0,
    throttles: 0,
    unknowns: 0,
    questions: 0,
    key: before ? turnTo(before.key, node.capabilityId ?? '') : firstKey(version),
    calls: 0,
    tokens: 0,
    costUsd: 0,
    clarifications: [],
    approved: false,
    ...(unsure !== undefined && { unsure }),
  }
}

/** The state holds a set of the nodes of some statuses. */
export function setStatus(state: RunState, node: NodeState, status: NodeStatus): void {
  const { id } = node.node
  state.ready.delete(id)
  state.running.delete(id)
  state.judging.delete(id)
  node.status = status
  if (status === 'ready' || status === 'running' || status === 'judging') state[status].add(id)
}

/** Completed, failed or skipped: the node is done with, and its edges are settled. */
export function settle(state: RunState, node: NodeState, status: 'completed' | 'error' | 'skipped'): void {
  setStatus(state, node, status)
  delete node.reply
  state.dead.delete(node.node.id)
  state.unsettled--
  const live = followEdges(state, node)
  if (status === 'error' && !live) state.fatal.add(node.node.id)
}

function followEdges(state: RunState, node: NodeState): boolean {
  let followed = false
  for (const edge of state.outgoing.get(node.node.id) ?? []) {
    const live = isLive(node, edge)
    followed ||= live
    const target = state.nodes.get(edge.to)
    if (!target) continue
    target.open--
    if (live) target.live++
    if (target.open > 0 || target.status !== 'pending') continue
    if (target.live > 0) setStatus(state, target, 'ready')
    else state.dead.add(edge.to)
  }
  return followed
}

function isLive(source: NodeState, edge: Required<Edge>): boolean {
  switch (source.status) {
    case 'completed': {
      const chosen = source.completed?.chosen
      return edge.when !== 'fail' && (chosen === undefined || chosen.includes(edge.to))
    }
    case 'error':
      return edge.when !== 'pass'
    default:
      return false
  }
}
