/** The port for answers that come later: an agent said "accepted" and calls back when it is done. */
import type { Json } from '../../base/json.ts'

export interface CallbackPost {
  /** From the callback's address. */
  readonly callId: string
  /** As the headers say it, unchecked. */
  readonly timestamp: string | undefined
  readonly nonce: string | undefined
  readonly signature: string | undefined
  /** The body as it came: what was signed. */
  readonly rawBody: Uint8Array
  readonly body: Json
}

/** What became of it: only `delivered` has an effect. */
export type Delivery =
  | 'delivered'
  /** No such call. */
  | 'unknown'
  /** Signed by nobody who may answer it. */
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
