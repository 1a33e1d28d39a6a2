/** What the state of a run says about its maps and loops. */
import type { Json } from '../../base/json.ts'
import type { AskKind } from '../ask.ts'
import type { NodeState, RunState } from '../run.ts'

/** What an instance is given: the item or the state, its number, and the other inputs of the map or loop. */
export function givenTo({ node, iterations }: NodeState, index: number): { readonly [name: string]: Json } {
  const { items, state: first, ...others } = iterations?.inputs ?? {}
  if (node.map) return { ...others, item: (items as readonly Json[])[index] ?? null, index }
  const before = index === 1 ? undefined : iterations?.results[index - 2]
  const reached = before && 'value' in before ? before.value : first
  return { ...others, ...(reached !== undefined && { state: reached }), round: index }
}

/** Items count from 0, rounds from 1; results stand at places from 0. */
export function placeOf({ node }: NodeState, index: number): number {
  return node.map ? index : index - 1
}

export function indexAt({ node }: NodeState, place: number): number {
  return node.map ? place : place + 1
}

/** A node of an instance is settled; `lost`: it failed, and no edge leads on. */
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

/** Nodes of an instance that were settled run again: it is under way as before. */
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

/** Whether what a node does no longer counts: its item, its round, or a map or loop around it has failed. */
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

/** A new plan comes into force: what maps and loops have done is kept until it has them again, except what is done anew. */
export function interruptIterations(state: RunState, again: ReadonlySet<string>): void {
  state.interrupted.clear()
  for (const id of state.iterating) {
    const node = state.nodes.get(id)
    if (!node?.iterations) continue
    const nodes = new Map<string, NodeState>()
    for (const instance of node.iterations.active)
      for (const nodeId of state.instances.get(instance)?.nodes ?? []) {
        const inner = state.nodes.get(nodeId)
        if (inner && !again.has(nodeId) && (inner.status === 'completed' || isAskedAbout(state, inner)))
          nodes.set(nodeId, inner)
      }
    state.interrupted.set(id, { node: node.node, iterations: node.iterations, nodes })
  }
  state.iterating.clear()
  state.instances.clear()
}

/** Asks about what an attempt has brought: raised again for the same value. All others are raised before an attempt. */
const aboutResult: ReadonlySet<AskKind> = new Set(['approval', 'clarify', 'failure'])

/** Whether the ask about what the last attempt of a node has brought was withdrawn for the new plan. */
export function isAskedAbout({ withdrawn }: RunState, { node, status, attempt }: NodeState): boolean {
  const kind = status === 'awaiting_hitl' ? withdrawn.get(node.id) : undefined
  return kind !== undefined && aboutResult.has(kind) && attempt?.result !== undefined
}

/** The maps and loops that a node is part of, from the inside out. */
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
