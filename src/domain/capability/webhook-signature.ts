/**
 * Signs and verifies webhooks by the Standard Webhooks specification, so that receivers can verify them with libraries of any
 * language: HMAC-SHA256 over `id.timestamp.body`, in base64. Unlike calls of agents, a webhook belongs to no node or attempt.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { ProvisoError } from '../../base/errors/error.ts'
import { isFresh } from './call-signature.ts'

export const webhookHeaders = {
  id: 'webhook-id',
  timestamp: 'webhook-timestamp',
  signature: 'webhook-signature',
} as const

interface SignedWebhook {
  readonly id: string
  /** Seconds since 1970, as in the header. */
  readonly timestamp: string
  readonly body: string | Uint8Array
}

const prefix = 'whsec_'

export function newWebhookSecret(): string {
  return `${prefix}${randomBytes(32).toString('base64')}`
}

/** Returns one signature per valid secret, so that a receiver without the newest one can still verify. */
export function signWebhook(signed: SignedWebhook, secrets: readonly string[]): string {
  return secrets.map((secret) => `v1,${hmac(signed, secret).toString('base64')}`).join(' ')
}

export interface WebhookVerification {
  readonly headers: Headers | { readonly [name: string]: string | readonly string[] | undefined }
  /** The body as it arrived: parsed and printed again, it would be another text. */
  readonly body: string | Uint8Array
  /** The secret of the webhook; several while it is rotated. */
  readonly secret: string | readonly string[]
  /** Milliseconds since 1970. Default: the time of this machine. */
  readonly now?: number
}

/**
 * Returns whether a webhook is signed with the secret and at most five minutes old. A delivery that is repeated has the same
 * `webhook-id`: remember the ids that you have handled. Throws for an empty secret.
 *
 * @example
 * if (!verifyWebhook({ headers: request.headers, body, secret })) return new Response(null, { status: 401 })
 */
export function verifyWebhook({ headers, body, secret, now = Date.now() }: WebhookVerification): boolean {
  // Anyone could sign with it.
  if ([secret].flat().some((each) => toKey(each).length === 0))
    throw new ProvisoError('option/invalid', '`secret` of verifyWebhook must not be empty', {
      hint: 'Pass the secret that was shown when the webhook was added',
    })
  const read = (name: string) => {
    const value = headers instanceof Headers ? headers.get(name) : headers[name]
    return typeof value === 'string' ? value : ''
  }
  const [id, timestamp] = [read(webhookHeaders.id), read(webhookHeaders.timestamp)]
  if (id === '' || !isFresh(timestamp, now)) return false
  const given = read(webhookHeaders.signature)
    .split(' ')
    .slice(0, 10)
    .flatMap((part) => (part.startsWith('v1,') ? [Buffer.from(part.slice(3), 'base64')] : []))
  return [secret].flat().some((each) => {
    const expected = hmac({ id, timestamp, body }, each)
    return given.some((one) => one.length === expected.length && timingSafeEqual(one, expected))
  })
}

/** A secret that begins with `whsec_` is base64; any other text is used as it is. */
function toKey(secret: string): Buffer {
  return secret.startsWith(prefix) ? Buffer.from(secret.slice(prefix.length), 'base64') : Buffer.from(secret)
}

function hmac({ id, timestamp, body }: SignedWebhook, secret: string): Buffer {
  return createHmac('sha256', toKey(secret)).update(`${id}.${timestamp}.`).update(body).digest()
}
