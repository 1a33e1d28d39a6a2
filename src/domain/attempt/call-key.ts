/**
 * Builds the idempotency key of a node's call: equal for all calls that must count as one, in any process and for any
 * number of retries. A call that may have taken effect keeps its key until it is answered, across retries, other
 * capabilities and new plans, so that a repeated call has no second effect. Used numbers are never reused.
 */
import type { Json } from '../../base/json.ts'
import type { Outcome } from '../output.ts'

/** An attempt by its name: numbers start again under each plan. */
export interface AttemptRef {
  readonly nodeId: string
  readonly attempt: number
  readonly planVersion: number
}

/** A call as it was started. */
export interface StartedCall {
  readonly capabilityId: string
  readonly idempotencyKey: string
  readonly idempotent: boolean
  readonly sideEffect?: true
  /** As the journal has them. */
  readonly inputs: Json
  readonly startedAt: number
}

/** A call that may have taken effect. */
export interface DoubtfulCall extends AttemptRef, StartedCall {
  readonly outcome: Outcome
}

export function toAttemptRef({ nodeId, attempt, planVersion }: AttemptRef): AttemptRef {
  return { nodeId, attempt, planVersion }
}

export interface CallKey {
  /** The plan under which the node was first there; counting continues as long as each plan has it, or a call is in doubt. */
  readonly version: number
  /** The number of the present call, unless it repeats one that is in doubt. */
  readonly logical: number
  /** The highest number so far. */
  readonly used: number
  /** Calls that may have taken effect, by capability. */
  readonly inDoubt: { readonly [capabilityId: string]: DoubtfulCall }
}

export function firstKey(version: number): CallKey {
  return { version, logical: 1, used: 1, inDoubt: {} }
}

/** The next call is a new one: the last was answered, or certainly nothing was done under its number. */
export function nextCall(key: CallKey, capabilityId: string): CallKey {
  const used = key.used + 1
  return { version: key.version, logical: used, used, inDoubt: without(key, capabilityId) }
}

export function doubted(key: CallKey, call: DoubtfulCall): CallKey {
  return { ...key, inDoubt: { ...key.inDoubt, [call.capabilityId]: call } }
}

/** The call of a capability that may have taken effect. */
export function callInDoubt({ inDoubt }: CallKey, capabilityId: string): DoubtfulCall | undefined {
  // A capability may be called `constructor`.
  return Object.hasOwn(inDoubt, capabilityId) ? inDoubt[capabilityId] : undefined
}

/** Whether any of its calls may have taken effect. */
export function hasDoubts({ inDoubt }: CallKey): boolean {
  for (const _ in inDoubt) return true
  return false
}

/** Another capability has its turn, or the first one again: its own call in doubt is taken up. */
export function turnTo(key: CallKey, capabilityId: string): CallKey {
  if (callInDoubt(key, capabilityId)) return key
  const used = key.used + 1
  return { ...key, logical: used, used }
}

/** Returns the key without the doubt about one capability, which another node takes over. */
export function withoutDoubtAbout(key: CallKey, capabilityId: string): CallKey {
  return { ...key, inDoubt: without(key, capabilityId) }
}

function without({ inDoubt }: CallKey, capabilityId: string): CallKey['inDoubt'] {
  // Nearly always: nothing is in doubt.
  if (!Object.hasOwn(inDoubt, capabilityId)) return inDoubt
  const { [capabilityId]: _, ...others } = inDoubt
  return others
}
