/** Webhooks of a tenant over the API: subscribes URLs to the ends of runs and to open asks, and shows what was delivered. */
import { api, type RequestOptions, type Transport } from './transport.ts'
import type {
  DeliveryPages,
  DeliveryQuery,
  NewWebhook,
  Webhook,
  WebhookChange,
  WebhookDelivery,
  WebhookPage,
} from './types.ts'

interface Options {
  readonly signal?: AbortSignal
}

/** A webhook, or its `webhookId`. */
type WebhookRef = string | { readonly webhookId: string }

/** Needs the role admin. */
export interface WebhooksClient {
  /** Lists the webhooks of the tenant, without their secrets. */
  list(options?: Options): Promise<readonly Webhook[]>
  /** Adds a webhook. `secret` verifies its deliveries (`verifyWebhook` of `proviso/agent`), and is shown only here. */
  create(webhook: NewWebhook, options?: Options): Promise<Webhook>
  /** Changes, pauses or resumes a webhook; with `rotateSecret`, the result has a new secret. */
  change(webhook: WebhookRef, change: WebhookChange, options?: Options): Promise<Webhook>
  /** Deletes a webhook; deliveries that wait are dropped. */
  delete(webhook: WebhookRef, options?: Options): Promise<void>
  /** Lists the deliveries of a webhook with their tries, newest first; pages are read as the loop proceeds. */
  deliveries(
    webhook: WebhookRef,
    query?: DeliveryQuery,
    options?: Options & { readonly pageSize?: number },
  ): AsyncGenerator<WebhookDelivery, void, void>
  /** Delivers again at once, with the same id and body. */
  retry(webhook: WebhookRef, deliveryId: string, options?: Options): Promise<WebhookDelivery>
}

export function createWebhooksClient(transport: Transport): WebhooksClient {
  const base = `${api}/webhooks`
  const toPath = (webhook: WebhookRef) =>
    `${base}/${encodeURIComponent(typeof webhook === 'string' ? webhook : webhook.webhookId)}`
  // Sent once: a second request would add a second webhook, or rotate its secret again.
  const send = async (path: string, request: RequestOptions): Promise<Webhook> => {
    const response = await transport.send(path, request)
    // The route decides the type.
    return (await response.json()) as Webhook
  }
  return {
    list: async ({ signal } = {}) => (await transport.json<WebhookPage>(base, { signal })).webhooks,
    create: (body, { signal } = {}) => send(base, { method: 'POST', body, signal }),
    change: (webhook, body, { signal } = {}) => send(toPath(webhook), { method: 'PATCH', body, signal }),
    async delete(webhook, { signal } = {}) {
      await transport.send(toPath(webhook), { method: 'DELETE', signal })
    },
    async *deliveries(webhook, query = {}, { signal, pageSize } = {}) {
      let after: string | undefined
      do {
        const page = await transport.json<DeliveryPages>(`${toPath(webhook)}/deliveries`, {
          query: { ...query, limit: pageSize, after },
          signal,
        })
        yield* page.deliveries
        after = page.next
      } while (after !== undefined)
    },
    retry: (webhook, deliveryId, { signal } = {}) =>
      transport.json<WebhookDelivery>(
        `${toPath(webhook)}/deliveries/${encodeURIComponent(deliveryId)}/retry`,
        { method: 'POST', signal },
      ),
  }
}
