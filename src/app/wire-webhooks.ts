/** Wires webhooks: their secrets, the guarded calls, the outbox, and the report of deliveries that were given up. */
import { createAddressFilter } from '../adapters/net/address-filter.ts'
import { postWebhook } from '../adapters/net/post-webhook.ts'
import type { AppOptions } from '../app-options.ts'
import { pick } from '../base/json.ts'
import type { EnvConfig } from '../env.ts'
import type { RecordChanges } from '../server/agents/agents.ts'
import { createWebhooks, type Delivery, type Webhooks } from '../server/webhooks/webhooks.ts'
import type { AppParts } from './app-parts.ts'
import { openEndpointSeal } from './wire-agents.ts'

export function wireWebhooks(
  { http = {}, webhooks = {}, random }: AppOptions,
  {
    store,
    clock,
    redactor,
    env,
    changes,
    onCrash,
  }: Pick<AppParts, 'store' | 'clock' | 'redactor' | 'onCrash'> & {
    readonly env: EnvConfig
    readonly changes: RecordChanges
  },
): Webhooks {
  const addressFilter = createAddressFilter(http)
  const created = createWebhooks({
    documents: store.records.documents,
    clock,
    changes,
    redactor,
    seal: openEndpointSeal(http, store, env),
    inspectUrl: addressFilter.inspect,
    post: (sending) => postWebhook(sending, { addressFilter, now: () => clock.now() }),
    onError: (cause) => onCrash('', cause),
    onGiveUp: webhooks.onGiveUp ?? warnGivenUp,
    cacheTtlMs: http.cacheTtlMs ?? defaultCacheTtlMs,
    ...(random && { random }),
    ...pick(webhooks, ['endpoints', 'retry', 'timeoutMs']),
  })
  return {
    ...created,
    async close() {
      await created.close()
      await addressFilter.close()
    },
  }
}

const defaultCacheTtlMs = 30_000

/** Says it once per delivery; the delivery itself stays in the store. */
function warnGivenUp({ deliveryId, webhookId, runId, event, attempts, tries }: Delivery): void {
  process.emitWarning(
    `Webhook "${webhookId}" was not delivered: ${event} of run "${runId}", ${attempts} tries. ${tries.at(-1)?.error ?? ''}`,
    { type: 'ProvisoWarning', code: 'webhook/failed', detail: `Delivery ${deliveryId}` },
  )
}
