/**
 * Delivers notices at least once, with the same id and the same bytes in every try: claims what is due, posts it, and records
 * the try. A process that dies in between leaves it due again.
 */
import { ProvisoError } from '../../base/errors/error.ts'
import type { Json } from '../../base/json.ts'
import type { Clock } from '../../base/time/clock.ts'
import { backoffMs, type RetryPolicy } from '../../base/time/retry.ts'
import type {
  PostWebhook,
  WebhookEvent,
  WebhookNotice,
  WebhookResult,
  WebhookSending,
} from '../../domain/event/webhook-notice.ts'
import type { DocumentRow, Documents, NewDocument } from '../../domain/ports/documents.ts'

export interface DeliveryOptions {
  readonly documents: Documents
  readonly clock: Clock
  readonly post: PostWebhook
  /** From 0 to below 1, for the jitter of retry delays. */
  readonly random?: () => number
  /** Overrides the default: 10 tries in about 8 hours. */
  readonly retry?: Partial<RetryPolicy>
  /** Time for one answer. Default 10 s. */
  readonly timeoutMs?: number
  readonly onError: (cause: unknown) => void
  /** Called when a delivery is given up. */
  readonly onGiveUp: (delivery: Delivery) => void
  /** Whether there is any webhook: without one, nothing is due. */
  readonly isUsed: () => boolean
  readonly find: (delivery: Pick<Delivery, 'tenant' | 'webhookId'>) => Promise<DeliveryTarget | undefined>
}

/** Where a delivery goes. */
export interface DeliveryTarget {
  readonly url: string
  readonly isPaused: boolean
  /** `settings`: of the operator. */
  readonly source: 'tenant' | 'settings'
  /** Newest first. Throws if they cannot be decrypted. */
  secrets(): readonly string[]
}

/** One try of a delivery. */
interface DeliveryTry {
  /** Milliseconds since 1970. */
  readonly at: number
  readonly ms: number
  /** HTTP status of the answer. */
  readonly status?: number
  readonly error?: string
}

export interface Delivery {
  readonly deliveryId: string
  readonly tenant: string
  readonly webhookId: string
  readonly event: WebhookEvent
  readonly runId: string
  readonly status: 'pending' | 'delivered' | 'failed'
  readonly createdAt: number
  /** When the next try is due. */
  readonly nextAt?: number
  /** Number of tries so far. */
  readonly attempts: number
  /** The newest tries, oldest first. */
  readonly tries: readonly DeliveryTry[]
  /** The body, exactly as it is sent. */
  readonly text: string
}

type Body = Pick<Delivery, 'webhookId' | 'event' | 'status' | 'attempts' | 'tries' | 'text'>

const webhookRetry: RetryPolicy = {
  max: 10,
  baseMs: 5_000,
  factor: 3,
  capMs: 4 * 3_600_000,
  jitter: 'full',
}

const mostInFlight = 32
/** Of one webhook, so that one that does not answer leaves capacity to the others. */
const mostOfOne = 4
/** Of the webhooks that one tenant has added, for the same reason. Those of the settings do not count. */
const mostOfTenant = 8
/** How long a delivery is put off whose webhook or tenant has that many in flight. */
const putOffMs = 2_000
const mostTries = 20
/** How long deliveries in flight may take when the app closes. */
const closeMs = 1_000
const defaultTimeoutMs = 10_000
/** Beyond twice the timeout, for the write of the result: then another process delivers it. */
const leaseMarginMs = 5_000

export function newDelivery(
  notice: WebhookNotice,
  { id, tenant, webhookId, runId }: { id: string; tenant: string; webhookId: string; runId: string },
): NewDocument {
  const text = JSON.stringify(notice)
  const body: Body = { webhookId, event: notice.type, status: 'pending', attempts: 0, tries: [], text }
  return { kind: 'delivery', tenant, id, runId, dueAt: 0, body: body as unknown as Json }
}

function toDelivery(row: DocumentRow): Delivery {
  const { id, tenant, runId = '', createdAt, dueAt } = row
  return {
    // Only this module writes these documents.
    ...(row.body as unknown as Body),
    deliveryId: id,
    tenant,
    runId,
    createdAt,
    ...(dueAt !== undefined && { nextAt: dueAt }),
  }
}

interface DeliveryQuery {
  readonly tenant?: string
  readonly webhookId?: string
  readonly status?: Delivery['status']
  readonly limit: number
  /** The last delivery of the page before. */
  readonly after?: Pick<Delivery, 'createdAt' | 'deliveryId'>
}

/** Rows read at once while deliveries of one status are looked for. */
const pageSize = 500

/** Lists deliveries, newest first. Reads the store in pages, and no further than the last delivery that it returns. */
export async function listDeliveries(
  documents: Pick<Documents, 'list'>,
  { tenant, webhookId, status, limit, after }: DeliveryQuery,
): Promise<Delivery[]> {
  const found: Delivery[] = []
  const size = status === undefined ? limit : Math.max(limit, pageSize)
  let last = after && { createdAt: after.createdAt, id: after.deliveryId }
  for (;;) {
    const rows = await documents.list({
      kind: 'delivery',
      limit: size,
      ...(tenant !== undefined && { tenant }),
      ...(webhookId !== undefined && { prefix: `${webhookId}_` }),
      ...(last && { after: last }),
    })
    for (const row of rows) {
      const delivery = toDelivery(row)
      if (status === undefined || delivery.status === status) found.push(delivery)
      if (found.length === limit) return found
    }
    last = rows.at(-1)
    if (rows.length < size || last === undefined) return found
  }
}

/** Throws `webhook/unknown` for a delivery that does not exist. */
export async function findDelivery(
  documents: Pick<Documents, 'find'>,
  key: { readonly tenant: string; readonly id: string },
): Promise<Delivery> {
  const row = await documents.find({ kind: 'delivery', ...key })
  if (row === undefined) throw unknownDelivery(key.id)
  return toDelivery(row)
}

export function unknownDelivery(deliveryId: string): ProvisoError {
  return new ProvisoError('webhook/unknown', `Delivery "${deliveryId}" not found`, {
    hint: 'List deliveries with GET /api/v1/flex/webhooks/:webhookId/deliveries',
  })
}

export function createDeliveries(options: DeliveryOptions) {
  const { documents, clock, isUsed, onError } = options
  const timeoutMs = options.timeoutMs ?? defaultTimeoutMs
  const inFlight = new Map<string, Promise<void>>()
  const inUse = createUseCounter()
  let sweeping: Promise<void> | undefined
  let isAgain = false
  let isClosed = false
  let cancelTimer = () => {}
  const stop = new AbortController()

  const replace = createReplacer(documents)

  const deliver = async (row: DocumentRow) => {
    // Only this module writes these documents.
    const body = row.body as unknown as Body
    const webhook = await options.find({ tenant: row.tenant, webhookId: body.webhookId })
    // Removed since: its deliveries go with it.
    if (webhook === undefined) return void (await documents.remove(row))
    const shares: readonly Share[] = [
      { name: `webhook ${body.webhookId}`, most: mostOfOne },
      ...(webhook.source === 'tenant' ? [{ name: `tenant ${row.tenant}`, most: mostOfTenant }] : []),
    ]
    // By the clock of the store, which claimed it just now.
    if (webhook.isPaused || !inUse.take(shares))
      return void (await replace(row, {
        body,
        dueAt: row.updatedAt + (webhook.isPaused ? pausedMs : putOffMs),
      }))
    const at = clock.now()
    const result = await send(row, webhook, { ...options, timeoutMs, signal: stop.signal }).finally(() =>
      inUse.release(shares),
    )
    // Cut off by the end of this process: another one delivers it at once.
    if (stop.signal.aborted && result.kind !== 'delivered')
      return void (await replace(row, { body, dueAt: 0 }))
    const ms = clock.now() - at
    const next = afterTry(body, { at, ms, result }, options)
    const { waitMs } = next
    const replaced = await replace(row, {
      body: next.body,
      ...(waitMs !== undefined && { dueAt: row.updatedAt + ms + waitMs }),
    })
    if (replaced && next.body.status === 'failed') options.onGiveUp(toDelivery(replaced))
  }

  const sweep = async () => {
    while (!isClosed) {
      const limit = mostInFlight - inFlight.size
      if (limit === 0) return
      const rows = await documents.claimDue({
        kind: 'delivery',
        limit,
        leaseMs: 2 * timeoutMs + leaseMarginMs,
      })
      for (const row of rows) {
        const done = deliver(row)
          .catch(onError)
          .finally(() => {
            inFlight.delete(row.id)
            wake()
          })
        inFlight.set(row.id, done)
      }
      if (rows.length < limit) break
    }
    const next = await documents.nextDue('delivery')
    if (next === undefined || isClosed) return
    cancelTimer()
    cancelTimer = clock.timer(clock.now() + Math.max(next.at - next.now, 0), wake)
  }

  const wake = () => {
    if (isClosed || !isUsed()) return
    isAgain = true
    sweeping ??= (async () => {
      while (isAgain) {
        isAgain = false
        await sweep().catch(onError)
      }
      sweeping = undefined
    })()
  }

  return {
    /** Delivers what is due. */
    wake,
    /** Waits a moment for the deliveries in flight, then cuts them off. */
    async close(): Promise<void> {
      isClosed = true
      cancelTimer()
      const cancelStop = clock.timer(clock.now() + closeMs, () => stop.abort())
      await sweeping
      await Promise.all(inFlight.values())
      cancelStop()
    },
  }
}

interface Share {
  readonly name: string
  readonly most: number
}

/** Counts deliveries in flight by the shares that they use. */
function createUseCounter() {
  const used = new Map<string, number>()
  return {
    /** False, without any effect, if one of the shares is used up. */
    take(shares: readonly Share[]): boolean {
      if (shares.some(({ name, most }) => (used.get(name) ?? 0) >= most)) return false
      for (const { name } of shares) used.set(name, (used.get(name) ?? 0) + 1)
      return true
    },
    release(shares: readonly Share[]): void {
      for (const { name } of shares) {
        const left = (used.get(name) ?? 1) - 1
        if (left > 0) used.set(name, left)
        else used.delete(name)
      }
    },
  }
}

/** Makes a delivery due at once, as if it had not been tried. */
export async function makeDue(
  documents: Documents,
  { tenant, deliveryId: id }: Pick<Delivery, 'tenant' | 'deliveryId'>,
): Promise<Delivery | undefined> {
  const row = await documents.find({ kind: 'delivery', tenant, id })
  if (row === undefined) return undefined
  // Only this module writes these documents.
  const body: Body = { ...(row.body as unknown as Body), status: 'pending', attempts: 0 }
  return toDelivery((await createReplacer(documents)(row, { body, dueAt: 0 })) ?? row)
}

/** Returns the function that writes a delivery again, unless it has changed meanwhile. */
function createReplacer(documents: Documents) {
  return (row: DocumentRow, change: { readonly body: Body; readonly dueAt?: number }) => {
    const { kind, tenant, id, runId, version } = row
    const { body, dueAt } = change
    return documents.replace(
      {
        ...{ kind, tenant, id, body: body as unknown as Json },
        ...(runId !== undefined && { runId }),
        ...(dueAt !== undefined && { dueAt }),
      },
      { version },
    )
  }
}

/** How often deliveries of a paused webhook are checked. */
const pausedMs = 60_000

async function send(
  row: DocumentRow,
  webhook: DeliveryTarget,
  { post, timeoutMs, signal }: Pick<WebhookSending, 'timeoutMs' | 'signal'> & { readonly post: PostWebhook },
): Promise<WebhookResult> {
  const { text } = row.body as unknown as Body
  try {
    return await post({ id: row.id, url: webhook.url, text, secrets: webhook.secrets(), timeoutMs, signal })
  } catch (cause) {
    // Such as secrets that this process cannot decrypt: another one may.
    if (ProvisoError.is(cause)) return { kind: 'failed', message: cause.message }
    throw cause
  }
}

interface TryEnd {
  readonly at: number
  readonly ms: number
  readonly result: WebhookResult
}

/** The delivery after one more try, and the pause before the next, if there is one. */
function afterTry(
  body: Body,
  { at, ms, result }: TryEnd,
  { retry, random }: Pick<DeliveryOptions, 'retry' | 'random'>,
): { readonly body: Body; readonly waitMs?: number } {
  const policy = { ...webhookRetry, ...retry }
  const attempts = body.attempts + 1
  const tried: DeliveryTry = {
    at,
    ms,
    ...('status' in result && result.status !== undefined && { status: result.status }),
    ...('message' in result && { error: result.message }),
  }
  const tries = [...body.tries, tried].slice(-mostTries)
  const next = { ...body, attempts, tries }
  if (result.kind === 'delivered') return { body: { ...next, status: 'delivered' } }
  const isOver = result.kind === 'refused' || result.isFinal === true || attempts >= policy.max
  if (isOver) return { body: { ...next, status: 'failed' } }
  const asked = result.retryAfterMs ?? 0
  return { body: next, waitMs: Math.max(asked, backoffMs(policy, attempts, random)) }
}
