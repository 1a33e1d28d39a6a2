/** Maps and loops in the state of a run. */
import type { Json } from '../../base/json.ts'
import type { AskKind } from '../ask.ts'
import type { NodeState, RunState } from '../run.ts'

/** Returns the inputs of an instance: the item or the state, its number, and the other inputs of the map or loop. */
export function givenTo({ node, iterations }: NodeState, index: number): { readonly [name: string]: Json } {
  const { items, state: first, ...others } = iterations?.inputs ?? {}
  if (node.map) return { ...others, item: (items as readonly Json[])[index] ?? null, index }
  const before = index === 1 ? undefined : iterations?.results[index - 2]
  const reached = before && 'value' in before ? before.value : first
  return { ...others, ...(reached !== undefined && { state: reached }), round: index }
}

/** Converts the number of an item (from 0) or round (from 1) to its position in `results` (from 0). */
export function toPosition({ node }: NodeState, index: number): number {
  return node.map ? index : index - 1
}

export function toIndex({ node }: NodeState, position: number): number {
  return node.map ? position : position + 1
}

/** Records that a node of an instance is settled; `lost`: it failed, and no edge handles the failure. */
export function settleInInstance(state: RunState, node: NodeState, lost: boolean): void {
  const instance = state.instances.get(node.instance ?? '')
  const iterations = instance && state.nodes.get(instance.of)?.iterations
  if (!instance || !iterations) return
  instance.unsettled--
  if (lost) {
    instance.fatal ??= node.node.id
    iterations.doomed.add(instance.id)
  } else if (instance.unsettled === 0 && instance.fatal === undefined) iterations.settled.add(instance.id)
}

/** Marks an instance as running again, because settled nodes of it run again. */
export function reopenInstance(state: RunState, id: string, unsettled: number): void {
  const instance = state.instances.get(id)
  if (!instance) return
  instance.unsettled = unsettled
  const fatal = state.nodes.get(instance.fatal ?? '')
  const { settled, doomed } = state.nodes.get(instance.of)?.iterations ?? {}
  settled?.delete(id)
  if (fatal?.status === 'error') return
  delete instance.fatal
  doomed?.delete(id)
}

/** Whether the result of a node no longer counts: its item, its round, or an enclosing map or loop has failed. */
export function isDoomed(state: RunState, node: NodeState): boolean {
  for (let at: NodeState | undefined = node; at?.instance !== undefined; ) {
    const instance = state.instances.get(at.instance)
    if (instance === undefined) return false
    const parent = state.nodes.get(instance.of)
    if (instance.fatal !== undefined || parent?.iterations?.failure) return true
    at = parent
  }
  return false
}

/** Saves the results of maps and loops when a new plan is installed, except nodes in `again`: the plan may contain them too. */
export function interruptIterations(state: RunState, again: ReadonlySet<string>): void {
  state.interrupted.clear()
  for (const id of state.iterating) {
    const node = state.nodes.get(id)
    if (!node?.iterations) continue
    const nodes = new Map<string, NodeState>()
    const kept = new Set<string>()
    for (const instance of node.iterations.active)
      for (const nodeId of state.instances.get(instance)?.nodes ?? []) {
        const inner = state.nodes.get(nodeId)
        if (!inner) continue
        const isKept = !again.has(nodeId) && (inner.status === 'completed' || isAskedAbout(state, inner))
        if (isKept) kept.add(nodeId)
        // The loop of an agent continues, also where its result is made again.
        if (isKept || inner.loop) nodes.set(nodeId, inner)
      }
    state.interrupted.set(id, { node: node.node, iterations: node.iterations, nodes, kept })
  }
  state.iterating.clear()
  state.instances.clear()
}

/** Asks about the result of an attempt: raised again for the same value. All others are raised before an attempt. */
const aboutResult: ReadonlySet<AskKind> = new Set(['approval', 'clarify', 'failure'])

/** Whether the ask about the result of a node's last attempt was withdrawn for the new plan. */
export function isAskedAbout({ withdrawn }: RunState, { node, status, attempt }: NodeState): boolean {
  const kind = status === 'awaiting_hitl' ? withdrawn.get(node.id) : undefined
  return kind !== undefined && aboutResult.has(kind) && attempt?.result !== undefined
}

/** Returns the maps and loops around a node, innermost first. */
export function around(state: RunState, node: NodeState): string[] {
  const found: string[] = []
  for (let at: NodeState | undefined = node; at?.instance !== undefined; ) {
    const of = state.instances.get(at.instance)?.of
    if (of === undefined) break
    found.push(of)
    at = state.nodes.get(of)
  }
  return found
}
