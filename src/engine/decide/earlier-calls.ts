/**
 * Finds calls that may have taken effect, of the node itself and of earlier plans. A node that is about to make the same
 * call (same capability, equal inputs) continues it, even if its node id was another: with the same idempotency key, and
 * only after a person approves where it must not be repeated. With other inputs it is another call with its own key; a
 * person still has to approve it.
 */
import { type Json, jsonEqual } from '../../base/json.ts'
import { callInDoubt, type DoubtfulCall } from '../../domain/attempt/call-key.ts'
import { isInside } from '../../domain/run/body-instance.ts'
import type { NodeState, RunState } from '../../domain/run.ts'

export interface Wanted {
  readonly capabilityId: string
  /** As recorded in the journal. */
  readonly inputs: () => Json
}

/** The call that a node would repeat; `mustAsk`: only after approval by a person. */
export interface EarlierCall {
  readonly call: DoubtfulCall
  readonly mustAsk: boolean
}

/** Returns the node's own call in doubt, if the node would repeat it. */
export function ownCall(node: NodeState, { capabilityId, inputs }: Wanted): DoubtfulCall | undefined {
  const call = callInDoubt(node.key, capabilityId)
  return call && jsonEqual(call.inputs, inputs()) ? call : undefined
}

/** Returns the call that must not be repeated without approval, if the node or one of its alternates would repeat it. */
export function unsureCall(
  { unsure }: NodeState,
  { inputs }: Pick<Wanted, 'inputs'>,
): DoubtfulCall | undefined {
  return unsure && jsonEqual(unsure.inputs, inputs()) ? unsure : undefined
}

/** Whether a person has approved exactly this call of the node: the same capability with equal inputs. */
export function isApproved(
  { approvedCalls }: RunState,
  { node }: NodeState,
  { capabilityId, inputs }: Wanted,
): boolean {
  const approved = approvedCalls.get(node.id) ?? []
  return approved.some((call) => call.capabilityId === capabilityId && jsonEqual(call.inputs, inputs()))
}

export function earlierCall(state: RunState, node: NodeState, wanted: Wanted): EarlierCall | undefined {
  const { capabilityId } = wanted
  // A node with its own call in doubt repeats that one.
  if (state.earlierDoubts.size === 0 || ownCall(node, wanted)) return undefined
  for (const { key, unsure } of state.earlierDoubts.values()) {
    const mustAsk = unsure?.capabilityId === capabilityId
    const call = mustAsk ? unsure : callInDoubt(key, capabilityId)
    if (call && jsonEqual(call.inputs, wanted.inputs())) return { call, mustAsk }
  }
  return undefined
}

/**
 * Returns a call of the same capability with other inputs that must not be repeated: the node's own, or of a node that
 * this plan does not have.
 */
export function otherCallInDoubt(
  state: RunState,
  node: NodeState,
  { capabilityId, inputs }: Wanted,
): DoubtfulCall | undefined {
  const isOther = (call: DoubtfulCall | undefined) =>
    call?.capabilityId === capabilityId && !jsonEqual(call.inputs, inputs())
  if (isOther(node.unsure)) return node.unsure
  for (const { unsure, isDone } of state.earlierDoubts.values())
    if (!isDone && isOther(unsure) && !isInPlan(state, unsure?.nodeId ?? '')) return unsure
  return undefined
}

/** Whether the plan has the node, or the map or loop that contains it. */
function isInPlan({ plan }: RunState, nodeId: string): boolean {
  return (plan?.nodes ?? []).some(({ id, body }) => nodeId === id || (body && isInside(nodeId, id)))
}
