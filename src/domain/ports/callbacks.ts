/** Ports for asynchronous answers: an agent accepted a call and calls back when it is done, or takes its calls itself. */
import type { Json } from '../../base/json.ts'

/** The part of a callback that arrives before its body. */
export interface CallbackHead {
  /** From the URL of the callback. */
  readonly callId: string
  /** Headers, not verified. */
  readonly timestamp: string | undefined
  readonly nonce: string | undefined
  readonly signature: string | undefined
}

export interface CallbackPost extends CallbackHead {
  /** The bytes of the body: the signed content. */
  readonly rawBody: Uint8Array
  readonly body: Json
}

/** Result of a callback; only `delivered` has an effect. */
export type Delivery =
  | 'delivered'
  /** No such call. */
  | 'unknown'
  /** The signature does not match the key of the registration. */
  | 'forged'
  /** Signed too long ago, or in the future. */
  | 'stale'
  /** The nonce was used before. */
  | 'replayed'
  /** The attempt has ended, or was answered before. */
  | 'settled'

export interface Callbacks {
  /**
   * Checks what can be checked before the body is read: the call exists, and the headers can belong to a valid signature.
   * The signature covers the body, so `deliver` verifies it.
   */
  checkHead(head: CallbackHead): Promise<'unknown' | 'forged' | 'stale' | undefined>
  deliver(post: CallbackPost): Promise<Delivery>
}

// Workers: agents that cannot be called, such as behind NAT, take their calls from the server.

export interface WorkerAgent {
  readonly tenant: string
  readonly capabilityId: string
}

/** A call that one worker may begin. */
export interface TakenCall {
  readonly idempotencyKey: string
  /** Counts how often the call was given to a worker. */
  readonly delivery: number
  /** The worker must renew the call within this time. */
  readonly leaseMs: number
  /** Signs the answer; of this call alone. */
  readonly signingKey: string
  /** Where the answer is posted. */
  readonly callbackPath: string
  /** The body of the call, as other agents receive it. */
  readonly body: Json
}

export interface CallProgress {
  readonly idempotencyKey: string
  readonly delivery: number
  /** New text of a stream, and where it begins in the whole text. */
  readonly text?: string
  readonly offset?: number
}

export interface WorkerCalls {
  /** Waits for a call; undefined if there is none in time. */
  take(
    agent: WorkerAgent,
    given: { readonly waitMs: number; readonly signal: AbortSignal },
  ): Promise<TakenCall | undefined>
  /**
   * Begins a call that was taken, and renews it while the worker executes it. `over`: another worker has it, it was answered
   * or it is not needed any more.
   */
  renew(agent: WorkerAgent, progress: CallProgress): Promise<'renewed' | 'over'>
}
