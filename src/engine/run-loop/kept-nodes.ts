/**
 * Determines what a new plan keeps. A node keeps its result if it would do the same work with the same inputs, all nodes
 * before it keep theirs, and its output is valid under the new version. All others run again. The journal records which
 * nodes these are (`plan_generated`), so that a fold decides nothing.
 */
import { type Json, jsonEqual } from '../../base/json.ts'
import { outputContractFor, type Plan, type PlanEdge, type PlanNode } from '../../domain/plan.ts'
import { findRaoContract, isRaoError, raoFields } from '../../domain/rao/rao-contract.ts'
import { assembleInputs } from '../../domain/run/bound-values.ts'
import { isLive, type KeptStatus, nodesToRedo } from '../../domain/run/fold-graph.ts'
import { isAskedAbout } from '../../domain/run/iterations.ts'
import type { NodeState, RunState } from '../../domain/run.ts'
import { compileSchema } from '../../schema/compile/compile.ts'
import { brokenConditions } from '../decide/checks/obligations.ts'
import { asksFor, decideRoute } from '../decide/judge.ts'

/** What happens to a node under the new plan: it keeps its result, is skipped, or runs. */
type Fate = KeptStatus | 'skipped' | 'runs'

/** Returns the nodes of a new plan that keep their result. */
export function keptNodes(state: RunState, plan: Plan): ReadonlyMap<string, KeptStatus> {
  if (state.nodes.size === 0) return new Map()
  const again = nodesToRedo(state)
  const into = new Map(plan.nodes.map(({ id }): [string, PlanEdge[]] => [id, []]))
  for (const edge of plan.edges) into.get(edge.to)?.push(edge)
  const byId = new Map(plan.nodes.map((node) => [node.id, node]))
  const fates = new Map<string, Fate>()
  /** The run as the new plan finds it: with the nodes that are completed. */
  const next: RunState = { ...state, plan, nodes: new Map() }
  const getFate = (id: string): Fate => {
    const known = fates.get(id)
    if (known !== undefined) return known
    const node = byId.get(id)
    const edges = into.get(id) ?? []
    const isOpen = edges
      .map(({ from }) => getFate(from))
      .some((fate) => fate !== 'completed' && fate !== 'skipped')
    const fate = node === undefined || isOpen ? 'runs' : decideFate({ state, next, again }, node, edges)
    fates.set(id, fate)
    const before = state.nodes.get(id)
    if (fate === 'completed' && node && before) next.nodes.set(id, { ...before, node })
    return fate
  }
  return new Map(
    plan.nodes.flatMap(({ id }): [string, KeptStatus][] => {
      const fate = getFate(id)
      return fate === 'completed' || fate === 'awaiting_hitl' ? [[id, fate]] : []
    }),
  )
}

interface Change {
  readonly state: RunState
  readonly next: RunState
  readonly again: ReadonlySet<string>
}

/** All that comes before the node is settled in the same way as before. */
function decideFate({ state, next, again }: Change, node: PlanNode, edges: readonly PlanEdge[]): Fate {
  const control = edges.filter(({ kind }) => kind === 'control')
  const isFollowed = (edge: PlanEdge) => {
    const source = next.nodes.get(edge.from)
    return source !== undefined && isLive(source, edge)
  }
  const isActivated = control.length === 0 || control.some(isFollowed)
  const isSupplied = node.needs.every(({ from }) => from.some((id) => next.nodes.has(id)))
  if (!isActivated || !isSupplied) return 'skipped'
  const before = state.nodes.get(node.id)
  if (before === undefined || again.has(node.id) || !isSameCall({ state, next }, before, node)) return 'runs'
  if (before.status === 'completed') return holds(next, before, node) ? 'completed' : 'runs'
  return isAskedAbout(state, before) ? 'awaiting_hitl' : 'runs'
}

/** The same work with the same inputs: calling again could only bring the same. */
function isSameCall({ state, next }: Omit<Change, 'again'>, before: NodeState, node: PlanNode): boolean {
  const { capabilityId, alternates = [], instructions = '' } = node
  const madeBy = before.completed?.capabilityId ?? before.attempt?.capabilityId ?? capabilityId
  if (madeBy !== capabilityId && !alternates.includes(madeBy ?? '')) return false
  // A planner need not repeat the instructions of what is done.
  if (instructions !== '' && instructions !== (before.node.instructions ?? '')) return false
  if (!jsonEqual(toWork(before.node), toWork(node))) return false
  const inputs = assembleInputs(next, node.inputs)
  if (!jsonEqual(assembleInputs(state, before.node.inputs), inputs)) return false
  return compileSchema(node.contracts.input, next.compileOptions).validate(inputs).length === 0
}

/** The settings that decide what a node does. Limits, retries, names and budgets do not change what it brings. */
function toWork({ capabilityId, tools, routing, body, loop, map, constraints, data = {} }: PlanNode): Json {
  const { max_duration_ms: _, ...bounds } = constraints ?? {}
  const isOwn = ([key]: [string, Json]) => !raoFields.includes(key)
  const settings = {
    capabilityId,
    tools,
    routing,
    body,
    loop,
    onItemFail: map && (map.onItemFail ?? 'fail'),
    bounds,
    data: Object.fromEntries(Object.entries(data).filter(isOwn)),
  }
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined)) as Json
}

/** Whether the output satisfies what the new version asks of it: contract, conditions, RAO contract and approval. */
function holds(next: RunState, before: NodeState, node: PlanNode): boolean {
  const { output, completed } = before
  if (output === undefined || completed === undefined) return false
  const isPerson = completed.person !== undefined
  const madeBy = isPerson ? undefined : completed.capabilityId
  if (compileSchema(outputContractFor(node, madeBy), next.compileOptions).validate(output.value).length > 0)
    return false
  if (brokenConditions(next, { ...before, node }, output.value, madeBy).length > 0) return false
  return isPerson || (!asksFor(next, { node }) && passesRao(before, node))
}

/** The answer was let pass under the same thresholds, or would be under those of the new version. */
function passesRao({ node: was, output = { value: null }, completed }: NodeState, node: PlanNode): boolean {
  const capabilityId = completed?.capabilityId ?? ''
  const contract = findRaoContract(node, capabilityId)
  if (contract === undefined) return true
  if (isRaoError(contract)) return false
  const earlier = findRaoContract(was, capabilityId)
  const isSame = earlier && !isRaoError(earlier) && jsonEqual(earlier.thresholds, contract.thresholds)
  return isSame || decideRoute(contract.thresholds, output).decision === 'auto_approve'
}
