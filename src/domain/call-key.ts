/**
 * Which calls of a node are one and the same, whoever makes them and however often: its idempotency key is made of this. A
 * call that may have taken effect keeps its number until it is answered, over retries, other capabilities and new plans, so
 * that calling again does nothing twice. A number that is done with never comes back.
 */
export interface CallKey {
  /** The plan under which the node was first there; counting goes on as long as each plan has it, or a call is in doubt. */
  readonly version: number
  /** The number of the present call. */
  readonly logical: number
  /** The highest number so far. */
  readonly used: number
  /** Calls that may have taken effect, by capability. */
  readonly inDoubt: { readonly [capabilityId: string]: number }
}

export function firstKey(version: number): CallKey {
  return { version, logical: 1, used: 1, inDoubt: {} }
}

/** The next call is a new one: the last was answered, or certainly nothing was done under its number. */
export function nextCall(key: CallKey, capabilityId: string): CallKey {
  const { [capabilityId]: _, ...inDoubt } = key.inDoubt
  const used = key.used + 1
  return { version: key.version, logical: used, used, inDoubt }
}

export function doubted(key: CallKey, capabilityId: string): CallKey {
  return { ...key, inDoubt: { ...key.inDoubt, [capabilityId]: key.logical } }
}

export function isInDoubt(key: CallKey, capabilityId: string): boolean {
  return Object.hasOwn(key.inDoubt, capabilityId)
}

/** Whether any of its calls may have taken effect. */
export function hasDoubts({ inDoubt }: CallKey): boolean {
  for (const _ in inDoubt) return true
  return false
}

/** Another capability has its turn, or the first one again: its own call in doubt is taken up. */
export function turnTo(key: CallKey, capabilityId: string): CallKey {
  // A capability may be called `constructor`.
  const logical = Object.hasOwn(key.inDoubt, capabilityId) ? key.inDoubt[capabilityId] : undefined
  if (logical !== undefined) return { ...key, logical }
  const used = key.used + 1
  return { ...key, logical: used, used }
}
