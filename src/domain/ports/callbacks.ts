/** Port for asynchronous answers: an agent accepted a call and calls back when it is done. */
import type { Json } from '../../base/json.ts'

export interface CallbackPost {
  /** From the URL of the callback. */
  readonly callId: string
  /** Headers, not verified. */
  readonly timestamp: string | undefined
  readonly nonce: string | undefined
  readonly signature: string | undefined
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
  deliver(post: CallbackPost): Promise<Delivery>
}
