/**
 * Webhooks: tenants subscribe to the ends of runs and to open asks over HTTP, operators in the settings. A notice is written
 * with the event that it reports, in one transaction, and then delivered until it arrives or is given up.
 */
import { createHash, randomBytes } from 'node:crypto'
import { ProvisoError } from '../../base/errors/error.ts'
import type { Issue } from '../../base/errors/issue.ts'
import type { Json } from '../../base/json.ts'
import type { Clock } from '../../base/time/clock.ts'
import { liveSecrets, type SigningKey } from '../../domain/capability/endpoint.ts'
import { newWebhookSecret } from '../../domain/capability/webhook-signature.ts'
import { type WebhookEvent, webhookEvents } from '../../domain/event/webhook-notice.ts'
import { below } from '../../domain/parse/parsed.ts'
import type { DocumentRow, Documents } from '../../domain/ports/documents.ts'
import type { NewOperation } from '../../domain/ports/operations.ts'
import type { Store } from '../../domain/ports/store.ts'
import type { Redactor } from '../../domain/redaction/redact.ts'
import {
  type EndpointSeal,
  openEndpoint,
  renewKeys,
  sealedOwner,
  webhookOwner,
} from '../agents/endpoint-seal.ts'
import type { RecordChanges } from '../agents/record-changes.ts'
import {
  createDeliveries,
  type Delivery,
  type DeliveryOptions,
  type DeliveryTarget,
  findDelivery,
  listDeliveries,
  makeDue,
  unknownDelivery,
} from './deliveries.ts'
import { withOutbox } from './outbox.ts'

/** A webhook of the settings, which gets the events of every tenant unless it names one. */
export interface WebhookEndpoint {
  readonly url: string
  /** Signs the deliveries: at least 16 characters, or `whsec_` and base64. */
  readonly secret: string
  /** Default: all. */
  readonly events?: readonly WebhookEvent[]
  readonly tenant?: string
}

export interface WebhookOptions extends Omit<DeliveryOptions, 'documents' | 'find' | 'isUsed'> {
  readonly documents: Documents
  readonly clock: Clock
  readonly changes: RecordChanges
  readonly seal: EndpointSeal
  readonly redactor: Redactor
  /** Returns an issue if this URL must not be called. */
  readonly inspectUrl: (url: string) => Promise<Issue | undefined>
  readonly endpoints?: readonly WebhookEndpoint[]
  /** How soon webhooks that another process has changed are known here, if no run is started meanwhile. */
  readonly cacheTtlMs: number
}

export interface Webhook extends DeliveryTarget {
  readonly webhookId: string
  /** Absent: of all tenants. */
  readonly tenant?: string
  readonly events: readonly WebhookEvent[]
  readonly description?: string
  readonly createdAt?: number
}

export interface GivenWebhook {
  readonly url: string
  readonly events?: readonly WebhookEvent[]
  readonly description?: string
}

export interface WebhookChange extends Partial<GivenWebhook> {
  readonly isPaused?: boolean
  readonly rotateSecret?: boolean
}

/** Who changes a webhook. */
interface Changing {
  readonly tenant: string
  readonly by: string
}

interface Changed {
  readonly webhook: Webhook
  /** Present only when it was made; it is not shown again. */
  readonly secret?: string
}

export interface WebhookServices {
  create(by: Changing, given: GivenWebhook): Promise<Changed>
  change(by: Changing, webhookId: string, change: WebhookChange): Promise<Changed>
  remove(by: Changing, webhookId: string): Promise<void>
  list(tenant: string): Promise<readonly Webhook[]>
  /** Newest first; one more than the limit, so that the caller knows whether another page follows. */
  deliveries(
    tenant: string,
    webhookId: string,
    query: {
      readonly status?: Delivery['status']
      readonly limit: number
      /** Id of the last delivery of the page before. */
      readonly after?: string
    },
  ): Promise<readonly Delivery[]>
  /** Makes a delivery due again that was given up, or at once one that waits. */
  redeliver(tenant: string, webhookId: string, deliveryId: string): Promise<Delivery>
}

export interface Webhooks {
  readonly services: WebhookServices
  /** The store that writes notices together with the events that they report. */
  withOutbox(store: Store): Store
  open(): Promise<void>
  close(): Promise<void>
}

export { type Delivery, listDeliveries } from './deliveries.ts'

const mostWebhooks = 20
/** How often a change is tried again that another process got ahead of. */
const tries = 5

export function createWebhooks(options: WebhookOptions): Webhooks {
  const { documents, clock, cacheTtlMs, onError } = options
  const configured = (options.endpoints ?? []).map(toConfigured)
  let known: readonly Webhook[] = configured
  let cancelTimer = () => {}
  let isClosed = false

  const refresh = async () => {
    const rows = await documents.list({ kind: 'webhook' })
    known = [...configured, ...rows.map((row) => toWebhook(row, options))]
  }
  options.changes.add(refresh)
  const deliveries = createDeliveries({
    ...options,
    isUsed: () => known.length > 0,
    async find({ tenant, webhookId }) {
      const isIt = (webhook: Webhook) =>
        webhook.webhookId === webhookId && (webhook.tenant ?? tenant) === tenant
      if (!known.some(isIt)) await refresh()
      return known.find(isIt)
    },
  })
  const poll = () => {
    cancelTimer = clock.timer(clock.now() + cacheTtlMs, () => {
      refresh()
        .then(deliveries.wake, onError)
        .finally(() => {
          if (!isClosed) poll()
        })
    })
  }
  return {
    services: createServices(options, { configured, refresh, deliveries }),
    withOutbox: (store) =>
      withOutbox(store, {
        redactor: options.redactor,
        isUsed: () => known.length > 0,
        subscribers: (tenant, event) =>
          known.filter(
            (webhook) =>
              !webhook.isPaused && (webhook.tenant ?? tenant) === tenant && webhook.events.includes(event),
          ),
        onWritten: deliveries.wake,
      }),
    async open() {
      await refresh()
      deliveries.wake()
      poll()
    },
    async close() {
      isClosed = true
      cancelTimer()
      await deliveries.close()
    },
  }
}

interface ServiceParts {
  readonly configured: readonly Webhook[]
  readonly refresh: () => Promise<void>
  readonly deliveries: ReturnType<typeof createDeliveries>
}

function createServices(
  options: WebhookOptions,
  { configured, refresh, deliveries }: ServiceParts,
): WebhookServices {
  const { documents, clock, seal } = options
  const own = (tenant: string) => documents.list({ kind: 'webhook', tenant })
  const findRow = (tenant: string, webhookId: string) => findWebhook(documents, { tenant, webhookId })
  const findDeliveries = (tenant: string, webhookId: string) =>
    configured.some((webhook) => webhook.webhookId === webhookId && (webhook.tenant ?? tenant) === tenant)
      ? undefined
      : findRow(tenant, webhookId)
  return {
    async create({ tenant, by }, { url, events = webhookEvents, description }) {
      await checkUrl(url, options)
      const count = (await own(tenant)).length
      if (count >= mostWebhooks) throw tooMany(count)
      const id = `wh_${randomBytes(8).toString('hex')}`
      const { keys, issued } = renewKeys([], { rotate: true, now: clock.now(), newSecret: newWebhookSecret })
      const body = toBody({ id, tenant, url, events, description, isPaused: false, keys }, seal)
      const operation = toOperation('webhook.created', { tenant, by, id, url, events })
      const row = await documents.add({ kind: 'webhook', tenant, id, body }, { operation })
      if (row === undefined) throw new Error('A new id is taken')
      // Others may have added some since the count: the last of them to count again sees all.
      if ((await own(tenant)).length > mostWebhooks) {
        const removed = toOperation('webhook.removed', { tenant, by, id, url, events })
        await documents.remove(row, { operation: removed })
        throw tooMany(mostWebhooks)
      }
      await refresh()
      return { webhook: toWebhook(row, options), ...(issued && { secret: issued.secret }) }
    },
    async change({ tenant, by }, webhookId, { rotateSecret = false, ...change }) {
      refuseConfigured(configured, webhookId)
      if (change.url !== undefined) await checkUrl(change.url, options)
      for (let left = tries; left > 0; left--) {
        const row = await findRow(tenant, webhookId)
        const { secrets: _, ...before } = toWebhook(row, options)
        // Keys that cannot be decrypted are lost: a rotation makes new ones.
        const opened = seal.open(sealedOwner(row))
        const keys = typeof opened === 'object' ? opened.keys : []
        const renewed = renewKeys(keys, {
          rotate: rotateSecret,
          now: clock.now(),
          newSecret: newWebhookSecret,
        })
        const next = { ...before, ...change }
        const body = toBody({ ...next, id: webhookId, tenant, keys: renewed.keys }, seal)
        const { url, events } = next
        const operation = toOperation('webhook.changed', {
          ...{ tenant, by, id: webhookId, url, events },
          more: { isPaused: next.isPaused, rotated: renewed.issued !== undefined },
        })
        const { version } = row
        const replaced = await documents.replace(
          { kind: 'webhook', tenant, id: webhookId, body },
          { version, operation },
        )
        if (replaced === undefined) continue
        await refresh()
        const secret = renewed.issued && { secret: renewed.issued.secret }
        return { webhook: toWebhook(replaced, options), ...secret }
      }
      throw new ProvisoError('store/unavailable', 'Others change the webhook at the same time')
    },
    async remove({ tenant, by }, webhookId) {
      refuseConfigured(configured, webhookId)
      const { url, events } = toWebhook(await findRow(tenant, webhookId), options)
      const operation = toOperation('webhook.removed', { tenant, by, id: webhookId, url, events })
      if (!(await documents.remove({ kind: 'webhook', tenant, id: webhookId }, { operation })))
        throw unknownWebhook(webhookId)
      await refresh()
    },
    async list(tenant) {
      const rows = await own(tenant)
      return [
        ...configured.filter((webhook) => (webhook.tenant ?? tenant) === tenant),
        ...rows.map((row) => toWebhook(row, options)),
      ]
    },
    async deliveries(tenant, webhookId, { status, limit, after }) {
      await findDeliveries(tenant, webhookId)
      const last = after === undefined ? undefined : await findDelivery(documents, { tenant, id: after })
      return listDeliveries(documents, {
        ...{ tenant, webhookId, limit: limit + 1 },
        ...(status !== undefined && { status }),
        ...(last && { after: last }),
      })
    },
    async redeliver(tenant, webhookId, deliveryId) {
      await findDeliveries(tenant, webhookId)
      const isOwn = deliveryId.startsWith(`${webhookId}_`)
      const done = isOwn ? await makeDue(documents, { tenant, deliveryId }) : undefined
      deliveries.wake()
      if (done === undefined) throw unknownDelivery(deliveryId)
      return done
    },
  }
}

async function findWebhook(
  documents: WebhookOptions['documents'],
  { tenant, webhookId }: { readonly tenant: string; readonly webhookId: string },
) {
  const row = await documents.find({ kind: 'webhook', tenant, id: webhookId })
  if (row === undefined) throw unknownWebhook(webhookId)
  return row
}

/** Throws if the URL may not be called. */
async function checkUrl(url: string, { inspectUrl }: Pick<WebhookOptions, 'inspectUrl'>): Promise<void> {
  const issue = await inspectUrl(url)
  if (issue)
    throw new ProvisoError('webhook/invalid', `Cannot use the webhook: ${issue.message}`, {
      issues: [below('/url', issue)],
    })
}

function tooMany(count: number): ProvisoError {
  return new ProvisoError('webhook/limit', `Cannot add a webhook: the tenant has ${count}`)
}

function unknownWebhook(webhookId: string): ProvisoError {
  return new ProvisoError('webhook/unknown', `Webhook "${webhookId}" not found`)
}

function refuseConfigured(configured: readonly Webhook[], webhookId: string): void {
  if (!configured.some((webhook) => webhook.webhookId === webhookId)) return
  throw new ProvisoError('webhook/invalid', `Webhook "${webhookId}" is one of the server's settings`, {
    hint: 'Ask the operator to change the settings',
  })
}

interface StoredWebhook {
  readonly id: string
  readonly tenant: string
  readonly url: string
  readonly events: readonly WebhookEvent[]
  readonly description?: string | undefined
  readonly isPaused: boolean
  readonly keys: readonly SigningKey[]
}

function toBody(
  { id, tenant, url, events, description, isPaused, keys }: StoredWebhook,
  seal: EndpointSeal,
): Json {
  return {
    events: [...events],
    ...(description !== undefined && { description }),
    isPaused,
    endpoint: seal.seal(webhookOwner(tenant, id), { url, keys }),
  }
}

function toWebhook(row: DocumentRow, { seal, clock }: Pick<WebhookOptions, 'seal' | 'clock'>): Webhook {
  // Only this module writes these documents.
  const { events, description, isPaused, endpoint } = row.body as unknown as {
    events: readonly WebhookEvent[]
    description?: string
    isPaused: boolean
    endpoint: { url: string }
  }
  return {
    webhookId: row.id,
    tenant: row.tenant,
    url: endpoint.url,
    events,
    ...(description !== undefined && { description }),
    isPaused,
    source: 'tenant',
    createdAt: row.createdAt,
    secrets: () => liveSecrets(openEndpoint(seal, sealedOwner(row)) ?? { keys: [] }, clock.now()),
  }
}

/** Ids of tenants' webhooks have only hex digits after `wh_`. */
const settingsPrefix = 'wh_settings_'

/** Whether a webhook is one of the operator's settings. */
export function isOfSettings(webhookId: string): boolean {
  return webhookId.startsWith(settingsPrefix)
}

/** The id depends on the URL and the tenant alone: deliveries stay with their webhook when the process starts again. */
function toConfigured({ url, secret, events = webhookEvents, tenant }: WebhookEndpoint): Webhook {
  const hash = createHash('sha256')
    .update(JSON.stringify([url, tenant ?? null]))
    .digest('hex')
  return {
    webhookId: `${settingsPrefix}${hash.slice(0, 12)}`,
    ...(tenant !== undefined && { tenant }),
    url,
    events,
    isPaused: false,
    source: 'settings',
    secrets: () => [secret],
  }
}

interface WebhookOperation {
  readonly tenant: string
  readonly by: string
  readonly id: string
  readonly url: string
  readonly events: readonly WebhookEvent[]
  readonly more?: { readonly [name: string]: Json }
}

/** A URL may contain a token of the receiver, so the audit has only its origin. */
function toOperation(
  action: 'webhook.created' | 'webhook.changed' | 'webhook.removed',
  { tenant, by, id, url, events, more = {} }: WebhookOperation,
): NewOperation {
  return {
    tenant,
    by,
    action,
    subject: id,
    details: { origin: new URL(url).origin, events: [...events], ...more },
  }
}
