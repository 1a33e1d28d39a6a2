/**
 * Maps and loops in the state of a run: an item or a round that begins adds its nodes, one that is over leaves its result
 * and takes them away, so that the cost of an event does not grow with what is done.
 */
import { type Json, jsonEqual } from '../../base/json.ts'
import type { EventPayloads } from '../event.ts'
import type { Iterations, NodeState, RunState } from '../run.ts'
import { instanceId, instantiate, isWithin } from './body-instance.ts'
import { assembleInputs } from './bound-values.ts'
import { addNodes } from './fold-graph.ts'
import { leftBy } from './fold-uncertain-calls.ts'
import { givenTo, toPosition } from './iterations.ts'

/** A map or a loop begins: what it is given is read once. */
export function beginIterations(state: RunState, node: NodeState, total: number): void {
  const inputs = assembleInputs(state, node.node.inputs)
  node.iterations = {
    inputs,
    total,
    results: [],
    next: 0,
    ended: 0,
    failed: 0,
    active: new Set(),
    settled: new Set(),
    doomed: new Set(),
  }
  // Not in `running`: it has no attempt.
  state.ready.delete(node.node.id)
  node.status = 'running'
  state.iterating.add(node.node.id)
  takeUp(state, node, node.iterations)
}

/** Reuses the results of the same map or loop under an earlier plan, for items with equal inputs. */
function takeUp(state: RunState, node: NodeState, iterations: Iterations): void {
  const before = state.interrupted.get(node.node.id)
  const earlier = before?.iterations
  const { items: _, ...others } = iterations.inputs
  const { items: __, ...othersBefore } = earlier?.inputs ?? {}
  if (!earlier || !isSameWork(before.node, node.node) || !jsonEqual(others, othersBefore)) {
    state.interrupted.delete(node.node.id)
    return
  }
  for (const [position, result] of earlier.results.entries()) {
    if (result === undefined || 'failure' in result || position >= iterations.total) continue
    if (node.node.map && !jsonEqual(itemAt(iterations, position), itemAt(earlier, position))) continue
    record(iterations, position, result)
  }
  skipDone(iterations)
}

function isSameWork(before: NodeState['node'], node: NodeState['node']): boolean {
  return jsonEqual(before.body as unknown as Json, node.body as unknown as Json) && !before.map === !node.map
}

/** The list was checked before the map began. */
function itemAt({ inputs }: Iterations, index: number): Json {
  return (inputs['items'] as readonly Json[])[index] ?? null
}

export function beginIteration(state: RunState, { of, index }: EventPayloads['iteration_start']): void {
  const node = state.nodes.get(of)
  const body = node?.node.body
  if (!node?.iterations || !body)
    throw new Error(`Cannot fold iteration_start: "${of}" is not a running map or loop`)
  const { iterations } = node
  const id = instanceId(node.node, index)
  const given = givenTo(node, index)
  const { nodes, edges } = instantiate(body, { instance: id, given })
  state.instances.set(id, {
    id,
    of,
    index,
    nodes: nodes.map((each) => each.id),
    unsettled: nodes.length,
  })
  iterations.active.add(id)
  if (nodes.length === 0) iterations.settled.add(id)
  iterations.next = toPosition(node, index) + 1
  skipDone(iterations)
  const before = state.interrupted.get(of)
  const isSame = before?.iterations && jsonEqual(givenTo({ ...node, ...before }, index), given)
  addNodes(state, { nodes, edges, instance: id, ...(isSame && { earlier: before.nodes, kept: before.kept }) })
}

/** The next one to begin has no result yet. */
function skipDone(iterations: Iterations): void {
  while (iterations.results[iterations.next] !== undefined) iterations.next++
}

export function endIteration(state: RunState, payload: EventPayloads['iteration_end']): void {
  const { of, index, status, output, outcome = 'rejected', error } = payload
  const node = state.nodes.get(of)
  const iterations = node?.iterations
  if (!node || !iterations) throw new Error(`Cannot fold iteration_end: "${of}" is not a running map or loop`)
  dropInstance(state, instanceId(node.node, index))
  if (status === 'cancelled') return
  const position = toPosition(node, index)
  if (output !== undefined) {
    record(iterations, position, { value: output })
    return
  }
  const failure = { outcome, error: error ?? { code: 'node/failed', message: `"${of}" failed` } } as const
  record(iterations, position, { failure })
  // A loop has no next round without a state.
  if ((node.node.map?.onItemFail ?? 'fail') === 'fail') iterations.failure ??= failure
}

function record(iterations: Iterations, position: number, result: Iterations['results'][number]): void {
  iterations.results[position] = result
  iterations.ended++
  if (result && 'failure' in result) iterations.failed++
}

/** Removes the nodes of an instance from the state, including maps and loops inside it. */
function dropInstance(state: RunState, id: string): void {
  const instance = state.instances.get(id)
  const parent = instance && state.nodes.get(instance.of)
  if (!instance || !parent) return
  for (const nodeId of instance.nodes) {
    const node = state.nodes.get(nodeId)
    if (!node) continue
    for (const inner of [...(node.iterations?.active ?? [])]) dropInstance(state, inner)
    rememberReading(parent, node)
    if (node.output?.degraded || node.degradedWithin) parent.degradedWithin = true
    const left = leftBy(node)
    if (left) state.leftInDoubt.set(nodeId, left)
    state.nodes.delete(nodeId)
    state.outgoing.delete(nodeId)
    state.iterating.delete(nodeId)
    for (const set of [state.ready, state.judging, state.dead]) set.delete(nodeId)
  }
  for (const [timerId, { purpose }] of state.timers)
    if (purpose.kind === 'retry' && isWithin(purpose.nodeId, id)) state.timers.delete(timerId)
  state.instances.delete(id)
  for (const set of [parent.iterations?.active, parent.iterations?.settled, parent.iterations?.doomed])
    set?.delete(id)
}

/** Records which capabilities supplied unapproved content inside an instance: the run knows that content from then on. */
function rememberReading(parent: NodeState, node: NodeState): void {
  const own = node.completed?.person === undefined ? node.completed?.capabilityId : undefined
  const all = [...(own === undefined ? [] : [own]), ...(node.unapproved ?? [])]
  if (all.length === 0) return
  parent.unapproved ??= new Set()
  for (const capabilityId of all) parent.unapproved.add(capabilityId)
}

/** Removes all iterations of a map or loop that is settled. */
export function endIterations(state: RunState, node: NodeState): void {
  if (!node.iterations) return
  for (const id of [...node.iterations.active]) dropInstance(state, id)
  node.iterations = undefined
  state.iterating.delete(node.node.id)
  state.interrupted.delete(node.node.id)
}
