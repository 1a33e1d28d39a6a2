/**
 * Calls that may have taken effect. A node knows its own; what nodes leave behind that are no longer there, because their
 * item or round is over or a new plan is in force, is kept until a node takes it up or the run ends.
 */
import { type Json, jsonEqual } from '../../base/json.ts'
import {
  type AttemptRef,
  callInDoubt,
  type DoubtfulCall,
  doubted,
  hasDoubts,
  nextCall,
  type StartedCall,
  toAttemptRef,
  withoutDoubtAbout,
} from '../attempt/call-key.ts'
import type { AttemptResult, Outcome } from '../output.ts'
import type { PlanNode } from '../plan.ts'
import type { LeftDoubts, NodeState, RunState } from '../run.ts'
import { isInside } from './body-instance.ts'

/** Outcomes after which the same call would be a new one. */
const answered: ReadonlySet<Outcome> = new Set(['ok', 'invalid', 'truncated', 'refused'])

/** Remembers what the last attempt may have done: under which key it is called again, and whether a person is asked. */
export function rememberDoubt(
  node: NodeState,
  { outcome, notApplied }: AttemptResult,
  ref: AttemptRef,
): void {
  if (!node.attempt) return
  const { capabilityId, sideEffect, idempotent } = node.attempt
  // An answer that is of no use says that a change of the world was made, not that it was not.
  const isAnswered = answered.has(outcome) && !sideEffect
  const mayHaveActed = !notApplied && outcome !== 'throttled'
  const isUnsure = !idempotent && mayHaveActed && (sideEffect || outcome === 'outcome_unknown')
  const isNew = isAnswered || (notApplied && !callInDoubt(node.key, capabilityId))
  if (isNew) node.key = nextCall(node.key, capabilityId)
  if (!isUnsure && (isNew || !mayHaveActed)) return
  const call = doubtfulCall(node.attempt, outcome, ref)
  if (!isNew && mayHaveActed) node.key = doubted(node.key, call)
  if (isUnsure) node.unsure = call
}

function doubtfulCall(started: StartedCall, outcome: Outcome, ref: AttemptRef): DoubtfulCall {
  const { capabilityId, idempotencyKey, sideEffect, idempotent, inputs, startedAt } = started
  return {
    ...toAttemptRef(ref),
    ...{ capabilityId, idempotencyKey, idempotent, inputs, startedAt, outcome },
    ...(sideEffect && { sideEffect }),
  }
}

/** What a node that goes away leaves in doubt; nothing if all is known. */
export function leftBy({ key, unsure, status }: NodeState): LeftDoubts | undefined {
  if (unsure === undefined && !hasDoubts(key)) return undefined
  return { key, ...(unsure && { unsure }), isDone: status === 'completed' }
}

/** A new plan comes into force: what is in doubt is what earlier plans have left, until its nodes take it up. */
export function leaveDoubts(state: RunState): void {
  for (const [id, left] of state.leftInDoubt) state.earlierDoubts.set(id, left)
  state.leftInDoubt.clear()
  for (const [id, node] of state.nodes) {
    const left = leftBy(node)
    if (left) state.earlierDoubts.set(id, left)
  }
}

/**
 * The output of these maps and loops was rejected: what their items and rounds did has ended, and is made by new calls. What
 * failed or must not be repeated stays in doubt.
 */
export function forgetIterations(state: RunState, ids: Iterable<string>): void {
  if (state.leftInDoubt.size === 0) return
  for (const of of ids)
    for (const [nodeId, left] of state.leftInDoubt) {
      if (!isInside(nodeId, of)) continue
      const inDoubt = Object.entries(left.key.inDoubt).filter(([, { outcome }]) => outcome !== 'ok')
      const key = { ...left.key, inDoubt: Object.fromEntries(inDoubt) }
      if (left.unsure === undefined && inDoubt.length === 0) state.leftInDoubt.delete(nodeId)
      else state.leftInDoubt.set(nodeId, { ...left, key })
    }
}

/** What the same node has left in doubt before: it has it back, except calls of capabilities that it does not use any more. */
export function takeBack(state: RunState, node: PlanNode): LeftDoubts | undefined {
  const { id, capabilityId, alternates = [] } = node
  const left = state.leftInDoubt.get(id) ?? state.earlierDoubts.get(id)
  if (!left) return undefined
  state.leftInDoubt.delete(id)
  state.earlierDoubts.delete(id)
  return callsIn(left)
    .filter((call) => call.capabilityId !== capabilityId && !alternates.includes(call.capabilityId))
    .reduce((rest, call) => setAside(state, id, rest, call), left)
}

/**
 * The call that starts has other inputs than one in doubt of the same node, or is of another capability with other inputs:
 * it is another call, and the one in doubt is not the node's any more.
 */
export function setAsideOthers(
  state: RunState,
  node: NodeState,
  started: Pick<StartedCall, 'capabilityId' | 'idempotencyKey' | 'inputs'>,
): void {
  const { capabilityId, idempotencyKey, inputs } = started
  const repeated = callInDoubt(node.key, capabilityId)
  const isOther = repeated !== undefined && repeated.idempotencyKey !== idempotencyKey
  if (isOther) leaveBehind(state, node, repeated)
  if (node.unsure && !jsonEqual(node.unsure.inputs, inputs)) leaveBehind(state, node, node.unsure)
  // The number of the one in doubt is not used again.
  if (isOther) node.key = nextCall(node.key, capabilityId)
}

function leaveBehind(state: RunState, node: NodeState, call: DoubtfulCall): void {
  const rest = setAside(state, node.node.id, { ...node, isDone: false }, call)
  node.key = rest.key
  if (rest.unsure === undefined) node.unsure = undefined
}

/** Keeps a call in doubt under a name of its own, where no node has it back by its id; what is left without it. */
function setAside(state: RunState, nodeId: string, left: LeftDoubts, call: DoubtfulCall): LeftDoubts {
  const { capabilityId, idempotencyKey } = call
  const { unsure, isDone, key } = left
  const isUnsure = unsure?.capabilityId === capabilityId
  const keyed = callInDoubt(key, capabilityId)
  const inDoubt = keyed ? { [capabilityId]: keyed } : {}
  const aside = { key: { ...key, inDoubt }, ...(isUnsure && { unsure }), isDone }
  state.earlierDoubts.set(`${nodeId}\n${idempotencyKey}`, aside)
  return { key: withoutDoubtAbout(key, capabilityId), ...(unsure && !isUnsure && { unsure }), isDone }
}

/** A node makes a call of an earlier plan its own: its key, and that a person has to be asked. */
export function takeUpCall(state: RunState, node: NodeState, ref: AttemptRef): void {
  for (const [id, left] of state.earlierDoubts) {
    const call = callsIn(left).find((each) => isSameAttempt(each, ref))
    if (!call) continue
    const { capabilityId } = call
    const own = callInDoubt(node.key, capabilityId)
    if (own && own.idempotencyKey !== call.idempotencyKey) leaveBehind(state, node, own)
    const keyed = callInDoubt(left.key, capabilityId)
    if (keyed) node.key = doubted(node.key, keyed)
    const isUnsure = left.unsure?.capabilityId === capabilityId
    if (isUnsure) node.unsure = call
    const { unsure, ...others } = left
    const rest = {
      ...others,
      ...(unsure && !isUnsure && { unsure }),
      key: withoutDoubtAbout(left.key, capabilityId),
    }
    if (rest.unsure === undefined && !hasDoubts(rest.key)) state.earlierDoubts.delete(id)
    else state.earlierDoubts.set(id, rest)
    return
  }
}

/** Every call that is in doubt, once; the one that a person has to be asked about first. */
export function callsIn({ key, unsure }: LeftDoubts): DoubtfulCall[] {
  const others = Object.values(key.inDoubt).filter(
    ({ capabilityId }) => capabilityId !== unsure?.capabilityId,
  )
  return unsure ? [unsure, ...others] : others
}

export function isSameAttempt(one: AttemptRef, other: AttemptRef): boolean {
  return one.nodeId === other.nodeId && one.attempt === other.attempt && one.planVersion === other.planVersion
}

/** Calls of earlier plans that may have changed something, and of which nothing is known: no node has taken them up. */
export function unaccountedCalls({ earlierDoubts }: Pick<RunState, 'earlierDoubts'>): DoubtfulCall[] {
  return [...earlierDoubts.values()]
    .filter(({ isDone }) => !isDone)
    .flatMap(callsIn)
    .filter(({ sideEffect, idempotent, outcome }) => (sideEffect || !idempotent) && !answered.has(outcome))
}

// Finds the call that a node would repeat, of the node itself and of earlier plans. A node that is about to make the same
// call (same capability, equal inputs) continues it, even if its node id was another: with the same idempotency key, and
// only after a person approves where it must not be repeated. With other inputs it is another call with its own key; a
// person still has to approve it.

interface Wanted {
  readonly capabilityId: string
  /** As recorded in the journal. */
  readonly inputs: () => Json
}

/** The call that a node would repeat; `mustAsk`: only after approval by a person. */
interface EarlierCall {
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
