/** What webhooks report of a run: that it has ended, and that it asks a person. Thin: the receiver reads the rest from the API. */
import type { Json } from '../../base/json.ts'
import { failureError } from '../errors/failure-error.ts'
import type { EventType, NewEvent } from '../event.ts'
import type { Redactor } from '../redaction/redact.ts'

export const webhookEvents = ['run.ended', 'ask.opened'] as const

export type WebhookEvent = (typeof webhookEvents)[number]

const byType: { readonly [T in EventType]?: WebhookEvent } = {
  complete: 'run.ended',
  hitl_request: 'ask.opened',
}

/** The event of webhooks that an event of a run is; undefined for all others. */
export function toWebhookEvent({ type }: Pick<NewEvent, 'type'>): WebhookEvent | undefined {
  return byType[type]
}

export interface NoticeRun {
  readonly runId: string
  readonly tenant: string
  readonly correlationId: string
  readonly threadId?: string
}

/** The body of a webhook. */
export interface WebhookNotice {
  readonly type: WebhookEvent
  /** ISO 8601: when it happened. */
  readonly timestamp: string
  readonly data: { readonly [name: string]: Json }
}

export function toNotice(event: NewEvent, run: NoticeRun, redactor: Redactor): WebhookNotice | undefined {
  const { runId, tenant, correlationId, threadId } = run
  const about = { runId, tenant, correlationId, ...(threadId !== undefined && { threadId }) }
  const timestamp = new Date(event.at).toISOString()
  if (event.type === 'complete') {
    const { status, error } = event.payload
    // Plain data.
    const failure = error && { error: redactor.value(failureError(error)) as Json }
    return { type: 'run.ended', timestamp, data: { ...about, status, ...failure } }
  }
  if (event.type !== 'hitl_request') return undefined
  const { requestId, kind, nodeId, question, valueHash, expiresAt } = event.payload
  const ask = {
    requestId,
    kind,
    ...(nodeId !== undefined && { nodeId }),
    question: redactor.text(question),
    valueHash,
    expiresAt: new Date(expiresAt).toISOString(),
  }
  return { type: 'ask.opened', timestamp, data: { ...about, ...ask } }
}

// The port to the network.

export interface WebhookSending {
  /** Of the delivery: the same for all its tries. */
  readonly id: string
  readonly url: string
  readonly text: string
  /** Newest first. */
  readonly secrets: readonly string[]
  readonly timeoutMs: number
  /** Ends the call at once. */
  readonly signal: AbortSignal
}

/** `refused`: the address may not be called, so nothing was sent. */
export type WebhookResult =
  | { readonly kind: 'delivered'; readonly status: number }
  | {
      readonly kind: 'failed'
      readonly status?: number
      readonly message: string
      /** Another try would fail as well. */
      readonly isFinal?: boolean
      readonly retryAfterMs?: number
    }
  | { readonly kind: 'refused'; readonly message: string }

export type PostWebhook = (sending: WebhookSending) => Promise<WebhookResult>
