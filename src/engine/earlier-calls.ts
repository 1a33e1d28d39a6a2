/**
 * Calls of earlier plans that may have taken effect. A node that is about to make the same call (the same capability with
 * equal inputs) continues it, whatever the node was called before: under the same key, and not before a person has said so
 * where it must not be repeated. Where only the inputs differ it is another call; a person still has to allow it.
 */
import { jsonEqual } from '../base/equal.ts'
import type { Json } from '../base/json.ts'
import { callInDoubt, type DoubtfulCall } from '../domain/call-key.ts'
import { isInside } from '../domain/instance.ts'
import type { NodeState, RunState } from '../domain/run.ts'

export interface Wanted {
  readonly capabilityId: string
  /** As the journal has them. */
  readonly inputs: () => Json
}

/** The call that a node would make again; `mustAsk`: it must not simply be repeated. */
export interface EarlierCall {
  readonly call: DoubtfulCall
  readonly mustAsk: boolean
}

export function earlierCall(state: RunState, node: NodeState, wanted: Wanted): EarlierCall | undefined {
  const { capabilityId } = wanted
  // A node that has the call in doubt itself repeats its own.
  if (state.earlierDoubts.size === 0 || callInDoubt(node.key, capabilityId)) return undefined
  for (const { key, unsure } of state.earlierDoubts.values()) {
    const mustAsk = unsure?.capabilityId === capabilityId
    const call = mustAsk ? unsure : callInDoubt(key, capabilityId)
    if (call && jsonEqual(call.inputs, wanted.inputs())) return { call, mustAsk }
  }
  return undefined
}

/** A call of the same capability with other inputs that must not be repeated, of a node that this plan does without. */
export function otherCallInDoubt(
  state: RunState,
  { capabilityId, inputs }: Wanted,
): DoubtfulCall | undefined {
  for (const [id, { unsure, isDone }] of state.earlierDoubts) {
    if (isDone || unsure?.capabilityId !== capabilityId || isInPlan(state, id)) continue
    if (!jsonEqual(unsure.inputs, inputs())) return unsure
  }
  return undefined
}

/** The plan has the node, or the map or loop that it is part of. */
function isInPlan({ plan }: RunState, nodeId: string): boolean {
  return (plan?.nodes ?? []).some(({ id, body }) => nodeId === id || (body && isInside(nodeId, id)))
}
