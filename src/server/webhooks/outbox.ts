/**
 * Transactional outbox: adds a delivery for every subscriber to the append that ends a run or opens an ask, so that a process
 * that dies in between loses no notice. Without webhooks, appends are passed on as they are.
 */
import { sha256Hex } from '../../base/canonical.ts'
import {
  type NoticeRun,
  toNotice,
  toWebhookEvent,
  type WebhookEvent,
} from '../../domain/event/webhook-notice.ts'
import type { NewEvent } from '../../domain/event.ts'
import type { NewDocument } from '../../domain/ports/documents.ts'
import type { Store } from '../../domain/ports/store.ts'
import type { Redactor } from '../../domain/redaction/redact.ts'
import { newDelivery } from './deliveries.ts'

interface OutboxOptions {
  readonly redactor: Redactor
  /** Whether there is any webhook. */
  readonly isUsed: () => boolean
  readonly subscribers: (tenant: string, event: WebhookEvent) => readonly { readonly webhookId: string }[]
  /** Called when deliveries were written. */
  readonly onWritten: () => void
}

export function withOutbox(store: Store, options: OutboxOptions): Store {
  const { isUsed, onWritten } = options
  const isNotable = (events: readonly NewEvent[]) =>
    isUsed() && events.some((event) => toWebhookEvent(event) !== undefined)
  const replaced: Pick<Store, 'create' | 'append'> = {
    async create(run) {
      const [first] = run.events
      if (!isNotable(run.events) || first?.type !== 'start') return store.create(run)
      const { runId, tenant } = run
      const { correlationId, threadId } = first.payload
      const about = { runId, tenant, correlationId, ...(threadId !== undefined && { threadId }) }
      const documents = makeDocuments(run.events, { about, after: 0 }, options)
      const created = await store.create({ ...run, documents })
      if (created !== false && documents.length > 0) onWritten()
      return created
    },
    async append(append) {
      if (!isNotable(append.events)) return store.append(append)
      const head = await store.head(append.runId)
      if (head === undefined) return { kind: 'missing' }
      const documents = makeDocuments(append.events, { about: head, after: append.expectedSeq }, options)
      const result = await store.append({ ...append, documents })
      if (result.kind === 'appended' && documents.length > 0) onWritten()
      return result
    },
  }
  const members = new Map<PropertyKey, unknown>(Object.entries(replaced))
  return new Proxy(store, { get: (target, name) => members.get(name) ?? Reflect.get(target, name) })
}

function makeDocuments(
  events: readonly NewEvent[],
  { about, after }: { readonly about: NoticeRun; readonly after: number },
  { redactor, subscribers }: OutboxOptions,
): NewDocument[] {
  return events.flatMap((event, index) => {
    const notice = toNotice(event, about, redactor)
    if (notice === undefined) return []
    // The same event has the same id, however often its append is tried.
    const hash = sha256Hex(JSON.stringify([about.runId, after + index + 1])).slice(0, 24)
    return subscribers(about.tenant, notice.type).map(({ webhookId }) =>
      newDelivery(notice, { ...about, webhookId, id: `${webhookId}_${hash}` }),
    )
  })
}
