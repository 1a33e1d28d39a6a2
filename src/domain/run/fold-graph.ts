/**
 * Decides which nodes run as others settle. Each edge is settled exactly once. A node whose edges are all settled is ready
 * if one of its control edges is followed (or it has none) and each required input has a completed source; otherwise it is
 * to be skipped. Data edges never activate a node, and no node waits for a branch that was not taken.
 */
import { type CallKey, firstKey, hasDoubts, nextCall, turnTo } from '../attempt/call-key.ts'
import { underNewPlan } from '../loop/loop-state.ts'
import { listDownstream } from '../plan/downstream.ts'
import type { BodyPlan, Need, Plan, PlanEdge, PlanNode, Routing } from '../plan.ts'
import type { NodeState, RunState } from '../run.ts'
import type { NodeStatus } from '../status.ts'
import { forgetIterations, leaveDoubts, takeBack } from './fold-uncertain-calls.ts'
import { interruptIterations, reopenInstance, settleInInstance } from './iterations.ts'

/** Status of a node that a new plan keeps: with its output, or with its last attempt, about which a person is asked. */
export type KeptStatus = 'completed' | 'awaiting_hitl'

/** Installs a plan. Kept nodes keep their results; all others run as if for the first time. */
export function installPlan(state: RunState, plan: Plan, kept: ReadonlyMap<string, KeptStatus>): void {
  const before = state.nodes
  const again = nodesToRedo(state)
  // What was rejected is made by a new call; what a policy has done again is the same call where it changes the world.
  for (const id of rejectedNodes(state)) {
    const node = before.get(id)
    if (node?.status !== 'completed') continue
    node.key = keyOfRework(node)
    forgetIterations(state, [id])
  }
  leaveDoubts(state)
  if (state.plan) interruptIterations(state, again)
  state.plan = plan
  state.planVersion = plan.version
  // Who approved or wrote the answer of another plan has not seen the one to come.
  state.finalReply = undefined
  state.nodes = new Map()
  state.outgoing = new Map()
  for (const set of [state.ready, state.running, state.judging, state.dead, state.fatal]) set.clear()
  for (const [id, timer] of state.timers) if (timer.purpose.kind === 'retry') state.timers.delete(id)
  state.withdrawn.clear()
  state.unsettled = plan.nodes.filter(({ id }) => kept.get(id) !== 'completed').length
  addNodes(state, { nodes: plan.nodes, edges: plan.edges, earlier: before, kept })
}

interface Added extends Pick<BodyPlan, 'nodes' | 'edges'> {
  /** The item or round that they are the nodes of. */
  readonly instance?: string
  /** Nodes of the previous plan. */
  readonly earlier?: ReadonlyMap<string, NodeState>
  /** Which of them keep their results. */
  readonly kept?: { has(id: string): boolean }
}

/** Adds nodes and the edges between them: of a plan, or of an item or round that begins. */
export function addNodes(state: RunState, { nodes, edges, instance, earlier, kept }: Added): void {
  const added = nodes.map((node): NodeState => {
    const before = earlier?.get(node.id)
    const left = takeBack(state, node)
    const isKept = before !== undefined && kept?.has(node.id) === true
    const made: NodeState = isKept
      ? { ...before, node, open: 0, control: 0, live: 0 }
      : { ...fresh(node, state.planVersion, left ?? before), ...earlierLoop(node, before) }
    if (instance !== undefined) addToInstance(state, made, instance)
    state.nodes.set(node.id, made)
    state.outgoing.set(node.id, [])
    return made
  })
  for (const edge of edges) state.outgoing.get(edge.from)?.push(edge)
  countEdges(state, edges)
  for (const node of added) if (node.open === 0) activate(state, node)
  for (const node of added) {
    // A person is asked again about what it has done.
    if (node.status === 'awaiting_hitl') setStatus(state, node, 'judging')
    if (node.status !== 'completed') continue
    followEdges(state, node)
    settleInInstance(state, node, false)
  }
}

/** What an agent has done under an earlier plan is not done again: attempts count anew, and its loop continues. */
function earlierLoop(node: PlanNode, before: NodeState | undefined): Pick<NodeState, 'loop'> {
  if (before?.loop === undefined || before.loop.capabilityId !== node.capabilityId) return {}
  return { loop: underNewPlan(before.loop) }
}

/** Numbers of calls of one pass over a map or a loop; no node makes as many. */
const callsPerPass = 1_000_000

function addToInstance(state: RunState, node: NodeState, instance: string): void {
  node.instance = instance
  const passes = state.nodes.get(state.instances.get(instance)?.of ?? '')?.passes
  if (passes === undefined) return
  if (node.node.body) node.passes = passes
  const first = passes * callsPerPass + 1
  if (node.key.used < first && !hasDoubts(node.key)) node.key = { ...node.key, logical: first, used: first }
}

/** Nodes whose work the next plan does again: the one that it was ordered for, what was rejected, and what came of that. */
export function nodesToRedo(state: RunState): ReadonlySet<string> {
  const { nodeId, approved } = state.planning?.trigger ?? {}
  const ordered = nodeId === undefined || approved ? [] : [nodeId]
  return new Set([...ordered, ...rejectedNodes(state)])
}

function rejectedNodes({ plan, planning }: RunState): readonly string[] {
  const { nodeIds = [] } = planning?.trigger ?? {}
  return [...nodeIds, ...(plan ? listDownstream(plan, nodeIds) : [])]
}

/**
 * Makes nodes that wait for a person or are settled run again under the plan in force: as if they had never run, but counting
 * their attempts further. Where nodes were settled, all edges of the plan are settled anew.
 */
export function reopenNodes(state: RunState, ids: ReadonlySet<string>): void {
  const scopes = new Set<string | undefined>()
  for (const id of ids) {
    const before = state.nodes.get(id)
    if (before === undefined) continue
    if (isSettled(before)) scopes.add(before.instance)
    setStatus(state, before, 'pending')
    state.fatal.delete(id)
    const { attempts, clarifications, instance, open, control, live } = before
    const again: NodeState = {
      ...fresh(before.node, state.planVersion, { ...before, key: keyOfRework(before) }),
      ...{ attempts, clarifications, open, control, live },
      ...(instance !== undefined && { instance }),
      ...(before.node.body && { passes: (before.passes ?? 0) + 1 }),
      ...(before.unapproved && { unapproved: before.unapproved }),
      // An agent continues its conversation with the feedback: what its tools did is not done again.
      ...(before.loop && { loop: before.loop }),
    }
    state.nodes.set(id, again)
  }
  for (const [id, { purpose }] of state.timers)
    if (purpose.kind === 'retry' && ids.has(purpose.nodeId)) state.timers.delete(id)
  for (const scope of scopes) settleEdgesAnew(state, scope)
  for (const id of ids) {
    const node = state.nodes.get(id)
    if (node?.open === 0) activate(state, node)
  }
}

/** Settles the edges of a plan, or of one item or round: nodes of these have edges among themselves only. */
function settleEdgesAnew(state: RunState, scope: string | undefined): void {
  const nodes = [...state.nodes.values()].filter(({ instance }) => instance === scope)
  for (const node of nodes) {
    node.open = 0
    node.control = 0
    node.live = 0
    state.dead.delete(node.node.id)
  }
  const unsettled = nodes.filter((node) => !isSettled(node)).length
  if (scope === undefined) state.unsettled = unsettled
  else reopenInstance(state, scope, unsettled)
  const edges = nodes.flatMap(({ node }) => state.outgoing.get(node.id) ?? [])
  countEdges(state, edges)
  for (const node of nodes) if (node.open === 0) activate(state, node)
  for (const node of nodes) if (isSettled(node)) followEdges(state, node)
}

function countEdges(state: RunState, edges: readonly PlanEdge[]): void {
  for (const edge of edges) {
    const target = state.nodes.get(edge.to)
    if (!target) continue
    target.open++
    if (edge.kind === 'control') target.control++
  }
}

/** An output that was rejected is made by a new call: the one before has ended, and what it did is known. */
function keyOfRework({ key, attempt }: NodeState): CallKey {
  return attempt?.result?.outcome === 'ok' ? nextCall(key, attempt.capabilityId) : key
}

function isSettled({ status }: NodeState): boolean {
  return status === 'completed' || status === 'error' || status === 'skipped'
}

/** What may have taken effect under earlier versions is not forgotten: neither the key nor that a person has to be asked. */
function fresh(
  node: PlanNode,
  version: number,
  before: Pick<NodeState, 'key' | 'unsure'> | undefined,
): NodeState {
  // Every member at once, as in the state of the run.
  return {
    node,
    status: 'pending',
    open: 0,
    control: 0,
    live: 0,
    started: false,
    startedAt: undefined,
    attempt: undefined,
    attempts: 0,
    candidate: 0,
    failures: 0,
    lostLeases: undefined,
    unknowns: 0,
    questions: 0,
    key: before ? turnTo(before.key, node.capabilityId ?? '') : firstKey(version),
    tokens: 0,
    costUsd: 0,
    output: undefined,
    completed: undefined,
    failed: undefined,
    skipped: undefined,
    reply: undefined,
    clarifications: [],
    unsure: before?.unsure,
    loop: undefined,
    instance: undefined,
    iterations: undefined,
    passes: undefined,
    unapproved: undefined,
    degradedWithin: undefined,
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
  node.reply = undefined
  state.dead.delete(node.node.id)
  const live = followEdges(state, node)
  const lost = status === 'error' && !live
  if (node.instance !== undefined) {
    settleInInstance(state, node, lost)
    return
  }
  state.unsettled--
  if (lost) state.fatal.add(node.node.id)
}

/** Settles the edges that leave a node; whether a control edge among them is followed. */
function followEdges(state: RunState, node: NodeState): boolean {
  let followed = false
  for (const edge of state.outgoing.get(node.node.id) ?? []) {
    const live = edge.kind === 'control' && isLive(node, edge)
    followed ||= live
    const target = state.nodes.get(edge.to)
    if (!target) continue
    target.open--
    if (live) target.live++
    if (target.open === 0) activate(state, target)
  }
  return followed
}

/** All that a node waits for is settled: it may run, or is to be skipped. */
function activate(state: RunState, node: NodeState): void {
  if (node.status !== 'pending') return
  if (isActivated(node) && unmetNeed(state, node) === undefined) setStatus(state, node, 'ready')
  else state.dead.add(node.node.id)
}

/** A control edge leads to the node, or it has none. */
export function isActivated({ control, live }: NodeState): boolean {
  return control === 0 || live > 0
}

/** The first required input for which no node has completed. */
export function unmetNeed(state: RunState, { node }: NodeState): Need | undefined {
  return node.needs.find(({ from }) => !from.some((id) => state.nodes.get(id)?.status === 'completed'))
}

/** Whether a control edge is followed, its source being settled. */
export function isLive(source: NodeState, edge: PlanEdge): boolean {
  switch (source.status) {
    case 'completed': {
      const chosen = source.completed?.chosen
      if (edge.when === 'fail') return false
      return chosen === undefined || chosen.includes(edge.to) || !isTarget(source.node.routing, edge.to)
    }
    case 'error':
      return edge.when !== 'pass'
    default:
      return false
  }
}

/** Only targets are chosen; other edges of a routing node are followed when it completes. */
function isTarget(routing: Routing | undefined, id: string): boolean {
  const { routes = [], elseTo = [] } = routing ?? {}
  return [...routes.map(({ to }) => to), elseTo].flat().includes(id)
}
