/**
 * Calls that may have taken effect. A node knows its own; what nodes leave behind that are no longer there, because their
 * item or round is over or a new plan is in force, is kept until a node takes it up or the run ends.
 */
import {
  type AttemptRef,
  callInDoubt,
  type DoubtfulCall,
  doubted,
  handedOver,
  hasDoubts,
  nextCall,
  refOf,
} from './call-key.ts'
import type { AttemptResult, Outcome } from './output.ts'
import type { LeftDoubts, NodeState, RunState } from './run.ts'

/** Outcomes after which the same call would be a new one. */
const answered: ReadonlySet<Outcome> = new Set(['ok', 'invalid', 'truncated', 'refused'])

/** Remembers what the last attempt may have done: under which key it is called again, and whether a person is asked. */
export function rememberDoubt(
  node: NodeState,
  { outcome, notApplied }: AttemptResult,
  ref: AttemptRef,
): void {
  if (!node.attempt) return
  const { capabilityId, idempotencyKey, sideEffect, idempotent, inputs, startedAt } = node.attempt
  const call: DoubtfulCall = {
    ...refOf(ref),
    ...{ capabilityId, idempotencyKey, idempotent, inputs, startedAt, outcome },
    ...(sideEffect && { sideEffect }),
  }
  // An answer that is of no use says that a change of the world was made, not that it was not.
  const isAnswered = answered.has(outcome) && !sideEffect
  const mayHaveActed = !notApplied && outcome !== 'throttled'
  if (isAnswered || (notApplied && !callInDoubt(node.key, capabilityId)))
    node.key = nextCall(node.key, capabilityId)
  else if (mayHaveActed) node.key = doubted(node.key, call)
  if (!idempotent && mayHaveActed && (sideEffect || outcome === 'outcome_unknown')) node.unsure = call
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

/** What the same node has left in doubt before: it has it back. */
export function takeBack(state: RunState, nodeId: string): LeftDoubts | undefined {
  const left = state.leftInDoubt.get(nodeId) ?? state.earlierDoubts.get(nodeId)
  state.leftInDoubt.delete(nodeId)
  state.earlierDoubts.delete(nodeId)
  return left
}

/** A node makes a call of an earlier plan its own: its key, and that a person has to be asked. */
export function takeUpCall(state: RunState, node: NodeState, ref: AttemptRef): void {
  for (const [id, left] of state.earlierDoubts) {
    const call = callsIn(left).find((each) => isSameAttempt(each, ref))
    if (!call) continue
    const { capabilityId } = call
    const keyed = callInDoubt(left.key, capabilityId)
    if (keyed) node.key = doubted(node.key, keyed)
    const isUnsure = left.unsure?.capabilityId === capabilityId
    if (isUnsure) node.unsure = call
    const { unsure, ...others } = left
    const rest = {
      ...others,
      ...(unsure && !isUnsure && { unsure }),
      key: handedOver(left.key, capabilityId),
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
