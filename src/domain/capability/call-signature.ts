/** Signs and verifies calls between Proviso and its agents: HMAC-SHA256 over `timestamp.nonce.runId.nodeId.attempt.body`, both ways. */
import { createHmac, timingSafeEqual } from 'node:crypto'

export interface Signed {
  /** Seconds since 1970, as in the header. */
  readonly timestamp: string
  readonly nonce: string
  readonly runId: string
  readonly nodeId: string
  readonly attempt: number
  readonly body: string | Uint8Array
}

/** Names of the headers, the same in both directions; run, node and attempt are sent with calls alone. */
export const signatureHeaders = {
  timestamp: 'proviso-timestamp',
  nonce: 'proviso-nonce',
  signature: 'proviso-signature',
  runId: 'proviso-run-id',
  nodeId: 'proviso-node-id',
  attempt: 'proviso-attempt',
} as const

/** Maximum clock difference, and lifetime of a signature. */
export const windowSeconds = 300

/** Creates one signature per valid key, so that an agent without the newest key can still verify. */
export function sign(signed: Signed, secrets: readonly string[]): string {
  return secrets.map((secret) => `v1=${hmac(signed, secret)}`).join(',')
}

/** The key of one call, for a worker: it signs the answer, and several workers of an agent need not share a key. */
export function deriveCallKey(secret: string, idempotencyKey: string): string {
  return `pck_${createHmac('sha256', secret).update(`call ${idempotencyKey}`).digest('base64url')}`
}

type Verdict = 'good' | 'forged' | 'stale'

interface Verification {
  /** The header. */
  readonly signature: string
  readonly secrets: readonly string[]
  /** Milliseconds since 1970. */
  readonly now: number
}

/** Verifies the signature and the timestamp. */
export function verify(signed: Signed, { signature, secrets, now }: Verification): Verdict {
  const given = signature
    .split(',')
    .slice(0, 4)
    .map((part) => part.trim().replace(/^v1=/, ''))
  const good = secrets.some((secret) => given.some((each) => same(each, hmac(signed, secret))))
  if (!good) return 'forged'
  return isFresh(signed.timestamp, now) ? 'good' : 'stale'
}

/** Returns whether a timestamp is inside the window. `now` is in milliseconds since 1970. */
export function isFresh(timestamp: string, now: number): boolean {
  return /^\d{1,12}$/.test(timestamp) && Math.abs(now / 1_000 - Number(timestamp)) <= windowSeconds
}

/** Returns whether a header has the form of a signature: hex digests separated by commas, each with or without `v1=`. */
export function isSignature(header: string): boolean {
  return /^ *(v1=)?[\da-f]{64} *(, *(v1=)?[\da-f]{64} *){0,15}$/.test(header)
}

function hmac({ timestamp, nonce, runId, nodeId, attempt, body }: Signed, secret: string): string {
  return createHmac('sha256', secret)
    .update(`${timestamp}.${nonce}.${runId}.${nodeId}.${attempt}.`)
    .update(body)
    .digest('hex')
}

function same(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)]
  return left.length === right.length && timingSafeEqual(left, right)
}
