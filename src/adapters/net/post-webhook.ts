/** Sends one webhook: signed, without following redirects, and only to addresses that the filter allows. */
import { signWebhook, webhookHeaders } from '../../domain/capability/webhook-signature.ts'
import type { WebhookResult, WebhookSending } from '../../domain/event/webhook-notice.ts'
import type { AddressFilter } from './address-filter.ts'
import { listErrorCodes, retryAfterMs } from './connection-failures.ts'

/** Maximum bytes read of an answer, which has no meaning. */
const mostRead = 65_536

export async function postWebhook(
  { id, url, text, secrets, timeoutMs, signal }: WebhookSending,
  { addressFilter, now }: { readonly addressFilter: AddressFilter; readonly now: () => number },
): Promise<WebhookResult> {
  const refused = addressFilter.check(url)
  if (refused) return { kind: 'refused', message: refused.message }
  const timestamp = String(Math.floor(now() / 1_000))
  const { request } = await import('undici')
  try {
    const { statusCode, headers, body } = await request(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'user-agent': 'proviso',
        [webhookHeaders.id]: id,
        [webhookHeaders.timestamp]: timestamp,
        [webhookHeaders.signature]: signWebhook({ id, timestamp, body: text }, secrets),
      },
      body: text,
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
      dispatcher: await addressFilter.connections(),
    })
    // The status is the answer: its body is read only so that the connection can be used again.
    await body.dump({ limit: mostRead }).catch(() => {})
    if (statusCode >= 200 && statusCode < 300) return { kind: 'delivered', status: statusCode }
    const later = retryAfterMs({ 'retry-after': String(headers['retry-after'] ?? '') }, now())
    return {
      kind: 'failed',
      status: statusCode,
      message:
        statusCode >= 300 && statusCode < 400
          ? `The endpoint answered ${statusCode}; redirects are not followed`
          : `The endpoint answered ${statusCode}`,
      // Gone: the receiver wants no more.
      ...(statusCode === 410 && { isFinal: true }),
      ...(later !== undefined && { retryAfterMs: later }),
    }
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause)
    if (listErrorCodes(cause).includes('PROVISO_ADDRESS_REFUSED')) return { kind: 'refused', message }
    const isLate = cause instanceof Error && cause.name === 'TimeoutError'
    return {
      kind: 'failed',
      message: isLate ? `The endpoint did not answer within ${timeoutMs} ms` : `Cannot deliver: ${message}`,
    }
  }
}
