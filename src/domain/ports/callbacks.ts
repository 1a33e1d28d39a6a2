/** Port for asynchronous answers: an agent accepted a call and calls back when it is done. */
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
