/** Webhooks of the operator, which get the events of all tenants. */
import { type WebhookEvent, webhookEvents } from '../../../domain/event/webhook-notice.ts'
import { count } from '../../../domain/schemas/parts.ts'
import type { ReadSetting, SettingTable } from './setting-row.ts'

export interface WebhookSettings {
  readonly urls: readonly string[]
  readonly events: readonly WebhookEvent[]
  readonly timeoutMs: number
  readonly maxTries: number
}

export const webhookTable = {
  'webhooks.urls': {
    schema: { type: 'array', items: { type: 'string', pattern: '^https?://' } },
    otherwise: [],
    what: 'webhooks that get the events of all tenants, signed with $PROVISO_WEBHOOK_SECRET',
    env: ['PROVISO_WEBHOOK_URLS'],
  },
  'webhooks.events': {
    schema: { type: 'array', items: { enum: webhookEvents }, minItems: 1 },
    otherwise: [...webhookEvents],
    what: `events of webhooks.urls: ${webhookEvents.join(', ')}`,
    env: ['PROVISO_WEBHOOK_EVENTS'],
  },
  'webhooks.timeout_ms': {
    schema: count,
    otherwise: 10_000,
    what: 'time for the answer to one webhook, of tenants too',
    env: ['PROVISO_WEBHOOK_TIMEOUT_MS'],
  },
  'webhooks.max_tries': {
    schema: count,
    otherwise: 10,
    what: 'how often a webhook is tried, of tenants too, before it is given up',
    env: ['PROVISO_WEBHOOK_MAX_TRIES'],
  },
} as const satisfies SettingTable

export function readWebhookSettings(at: ReadSetting<typeof webhookTable>): WebhookSettings {
  return {
    urls: at('webhooks.urls'),
    events: at('webhooks.events'),
    timeoutMs: at('webhooks.timeout_ms'),
    maxTries: at('webhooks.max_tries'),
  }
}
