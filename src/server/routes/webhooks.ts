/** Routes for admins to subscribe webhooks to the events of their tenant, and to see and repeat deliveries. */
import { ProvisoError } from '../../base/errors/error.ts'
import type { Json } from '../../base/json.ts'
import { webhookEvents } from '../../domain/event/webhook-notice.ts'
import { closed, flag, text } from '../../domain/schemas/parts.ts'
import type { Route } from '../route.ts'
import type { Served } from '../served.ts'
import {
  type Delivery,
  type GivenWebhook,
  isOfSettings,
  type Webhook,
  type WebhookChange,
  type WebhookServices,
} from '../webhooks/webhooks.ts'
import { api, iso, ok, refusals, signature } from './parts.ts'

const path = `${api}/webhooks`
const dateTime = { type: 'string', format: 'date-time' } as const
const statuses = ['pending', 'delivered', 'failed'] as const

const given = {
  url: { type: 'string', minLength: 1, maxLength: 2_000 },
  /** Default: all. */
  events: { type: 'array', items: { enum: webhookEvents }, minItems: 1, maxItems: webhookEvents.length },
  description: { type: 'string', maxLength: 500 },
} as const

const webhookSchema = {
  type: 'object',
  required: ['webhookId', 'url', 'events', 'isPaused', 'source'],
  properties: {
    webhookId: text,
    /** Only the origin if the source is `settings`. */
    url: { type: 'string' },
    events: { type: 'array', items: { enum: webhookEvents } },
    description: { type: 'string' },
    isPaused: { type: 'boolean' },
    /** `settings`: of the operator, for all tenants or for this one; it cannot be changed here. */
    source: { enum: ['tenant', 'settings'] },
    createdAt: dateTime,
    /** Only in the response that creates it. */
    secret: text,
  },
} as const

const deliverySchema = {
  type: 'object',
  required: ['deliveryId', 'event', 'runId', 'status', 'createdAt', 'attempts', 'tries', 'body'],
  properties: {
    deliveryId: text,
    event: { enum: webhookEvents },
    runId: text,
    status: { enum: statuses },
    createdAt: dateTime,
    nextAt: dateTime,
    attempts: { type: 'integer' },
    tries: {
      type: 'array',
      items: {
        type: 'object',
        required: ['at', 'ms'],
        properties: {
          at: dateTime,
          ms: { type: 'number' },
          status: { type: 'integer' },
          error: { type: 'string' },
        },
      },
    },
    /** Exactly as it is sent. */
    body: { type: 'string' },
  },
} as const

const params = closed({ webhookId: text }, ['webhookId'])

export const createWebhook: Route = {
  method: 'POST',
  path,
  operation: 'createWebhook',
  summary: 'Add a webhook of the caller’s tenant; its secret is only shown in this response',
  roles: ['admin'],
  body: closed(given, ['url']),
  replies: { 201: ok('The webhook and its secret', webhookSchema), ...refusals(404, 409, 413, 415, 422) },
  async handle({ caller, body }, served) {
    const by = { tenant: caller.tenant, by: signature(caller) }
    // Validated by the route's schema.
    const { webhook, secret } = await requireWebhooks(served).create(by, body as unknown as GivenWebhook)
    return { status: 201, body: { ...toView(webhook, served), ...(secret !== undefined && { secret }) } }
  },
}

export const listWebhooks: Route = {
  method: 'GET',
  path,
  operation: 'listWebhooks',
  summary: 'List the webhooks of the caller’s tenant, without their secrets',
  roles: ['admin'],
  replies: {
    200: ok('The webhooks', {
      type: 'object',
      required: ['webhooks'],
      properties: { webhooks: { type: 'array', items: webhookSchema } },
    }),
    ...refusals(404),
  },
  async handle({ caller: { tenant } }, served) {
    const webhooks = await requireWebhooks(served).list(tenant)
    return { status: 200, body: { webhooks: webhooks.map((webhook) => toView(webhook, served)) } }
  },
}

export const changeWebhook: Route = {
  method: 'PATCH',
  path: `${path}/:webhookId`,
  operation: 'changeWebhook',
  summary: 'Change, pause or resume a webhook, or rotate its secret; the old one signs for another day',
  roles: ['admin'],
  params,
  body: closed({ ...given, isPaused: flag, rotateSecret: flag }),
  replies: {
    200: ok('The webhook, with its secret if that is new', webhookSchema),
    ...refusals(404, 413, 415, 422),
  },
  async handle({ caller, params, body }, served) {
    const by = { tenant: caller.tenant, by: signature(caller) }
    // Validated by the route's schema.
    const change = body as unknown as WebhookChange
    const { webhook, secret } = await requireWebhooks(served).change(by, params['webhookId'] ?? '', change)
    return { status: 200, body: { ...toView(webhook, served), ...(secret !== undefined && { secret }) } }
  },
}

export const deleteWebhook: Route = {
  method: 'DELETE',
  path: `${path}/:webhookId`,
  operation: 'deleteWebhook',
  summary: 'Delete a webhook; what is not delivered yet is dropped',
  roles: ['admin'],
  params,
  replies: { 204: { description: 'Deleted' }, ...refusals(404, 422) },
  async handle({ caller, params }, served) {
    const by = { tenant: caller.tenant, by: signature(caller) }
    await requireWebhooks(served).remove(by, params['webhookId'] ?? '')
    return { status: 204 }
  },
}

interface DeliveriesQuery {
  readonly status?: Delivery['status']
  readonly limit?: number
  readonly after?: string
}

export const listDeliveries: Route = {
  method: 'GET',
  path: `${path}/:webhookId/deliveries`,
  operation: 'listDeliveries',
  summary: 'List the deliveries of a webhook with their tries, newest first',
  roles: ['admin'],
  params,
  query: closed({
    status: { enum: statuses },
    limit: { type: 'integer', minimum: 1, maximum: 500 },
    after: text,
  }),
  replies: {
    200: ok('A page of deliveries; pass next as after for the next page', {
      type: 'object',
      required: ['deliveries'],
      properties: { deliveries: { type: 'array', items: deliverySchema }, next: text },
    }),
    ...refusals(404),
  },
  async handle({ caller: { tenant }, params, query }, served) {
    // Validated by the route's schema.
    const { status, limit = 100, after } = query as DeliveriesQuery
    const found = await requireWebhooks(served).deliveries(tenant, params['webhookId'] ?? '', {
      ...(status !== undefined && { status }),
      ...(after !== undefined && { after }),
      limit,
    })
    const page = found.slice(0, limit)
    const next = found.length > limit ? page.at(-1)?.deliveryId : undefined
    return {
      status: 200,
      body: {
        deliveries: page.map((delivery) => toDeliveryView(delivery, served)),
        ...(next !== undefined && { next }),
      },
    }
  },
}

export const retryDelivery: Route = {
  method: 'POST',
  path: `${path}/:webhookId/deliveries/:deliveryId/retry`,
  operation: 'retryDelivery',
  summary: 'Deliver again at once, with the same id and body',
  roles: ['admin'],
  params: closed({ webhookId: text, deliveryId: text }, ['webhookId', 'deliveryId']),
  replies: { 202: ok('The delivery', deliverySchema), ...refusals(404, 415) },
  async handle({ caller: { tenant }, params }, served) {
    const { webhookId = '', deliveryId = '' } = params
    const delivery = await requireWebhooks(served).redeliver(tenant, webhookId, deliveryId)
    return { status: 202, body: toDeliveryView(delivery, served) }
  },
}

/** A URL may contain a token of its receiver. Of a webhook of the operator, tenants see only the origin. */
function toView(
  { secrets: _, tenant: __, createdAt, events, url, description, ...webhook }: Webhook,
  { app: { redactor } }: Served,
): { [name: string]: Json } {
  return {
    ...webhook,
    url: webhook.source === 'settings' ? new URL(url).origin : redactor.text(url),
    events: [...events],
    ...(description !== undefined && { description: redactor.text(description) }),
    ...(createdAt !== undefined && { createdAt: iso(createdAt) }),
  }
}

/** Errors may name addresses in the operator's network: of a webhook of the settings, tenants see only the status. */
function toDeliveryView(delivery: Delivery, { app: { redactor } }: Served): { [name: string]: Json } {
  const { tenant: _, webhookId, text: body, createdAt, nextAt, tries, ...rest } = delivery
  const toError = (error: string) =>
    isOfSettings(webhookId) ? 'Not delivered; the operator sees the reason' : redactor.text(error)
  return {
    ...rest,
    createdAt: iso(createdAt),
    // 0 means at once.
    ...(nextAt !== undefined && { nextAt: iso(Math.max(nextAt, createdAt)) }),
    tries: tries.map(({ at, error, ...each }) => ({
      at: iso(at),
      ...each,
      ...(error !== undefined && { error: toError(error) }),
    })),
    body,
  }
}

function requireWebhooks({ app }: Served): WebhookServices {
  if (app.webhooks) return app.webhooks
  throw new ProvisoError('webhook/off', 'Webhooks are disabled on this server')
}
