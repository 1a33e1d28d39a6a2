/** Human-in-the-loop requests over the API: lists them and sends decisions. The token identifies the person who decides. */

import { api, createKey, type Transport } from './transport.ts'
import type {
  AskPages,
  AskQuery,
  AskSummary,
  Decided,
  GrantScope,
  RejectAction,
  ReplyBody,
  RunEvent,
} from './types.ts'

/** What identifies an ask and the exact value that was shown: a decision about another value is refused. */
export interface AskRef {
  readonly requestId: string
  readonly valueHash: string
}

export interface ReplyOptions {
  readonly note?: string
  readonly idempotencyKey?: string
  readonly signal?: AbortSignal
}

export interface RejectOptions extends ReplyOptions {
  /** What follows, where the ask allows to choose (`rejectActions`). */
  readonly rejectAction?: RejectAction
}

interface ApproveOptions extends ReplyOptions {
  /** Remember the approval for later calls of the tool, where the ask lists `grants`. */
  readonly grant?: GrantScope
}

export interface AsksClient {
  /** Lists asks, oldest first, page by page. Default: open asks. Needs the role operator. */
  list(query?: AskQuery, options?: { readonly signal?: AbortSignal }): AsyncGenerator<AskSummary, void, void>
  approve(ask: AskRef, options?: ApproveOptions): Promise<Decided>
  reject(ask: AskRef, options?: RejectOptions): Promise<Decided>
  /** Supplies the value that the ask asks for: an answer, or the work of a person. */
  answer(ask: AskRef, value: unknown, options?: ReplyOptions): Promise<Decided>
  /** Approves another value instead of the one that was shown. */
  edit(ask: AskRef, value: unknown, options?: ReplyOptions): Promise<Decided>
}

export function createAsksClient(transport: Transport): AsksClient {
  const reply = (
    { requestId, valueHash }: AskRef,
    more: Omit<ReplyBody, 'requestId' | 'valueHash'>,
    { note, idempotencyKey = createKey(), signal }: ReplyOptions = {},
  ) =>
    transport.json<Decided>(`${api}/hitl/resolve`, {
      method: 'POST',
      headers: { 'idempotency-key': idempotencyKey },
      body: { requestId, valueHash, ...more, ...(note !== undefined && { note }) },
      signal,
    })
  return {
    async *list(query = {}, { signal } = {}) {
      let after: string | undefined
      do {
        const page = await transport.json<AskPages>(`${api}/hitl`, { query: { ...query, after }, signal })
        yield* page.asks
        after = page.next
      } while (after !== undefined)
    },
    approve: (ask, { grant, ...options } = {}) =>
      reply(ask, { decision: 'approve', ...(grant && { grant }) }, options),
    reject: (ask, { rejectAction, ...options } = {}) =>
      reply(ask, { decision: 'reject', ...(rejectAction && { rejectAction }) }, options),
    answer: (ask, value, options) => reply(ask, { decision: 'answer', value }, options),
    edit: (ask, value, options) => reply(ask, { decision: 'edit', value }, options),
  }
}

/** An open ask of a run, as the event that raised it shows it. */
export interface Ask extends AskRef {
  readonly runId: string
  readonly kind: string
  readonly nodeId?: string
  readonly policyId?: string
  readonly capabilityId?: string
  readonly question: string
  /** What is shown. */
  readonly value: unknown
  /** What an edited or answered value must satisfy. */
  readonly schema?: boolean | { readonly [keyword: string]: unknown }
  readonly decisions: readonly string[]
  readonly rejectActions?: readonly RejectAction[]
  /** ISO 8601; after that the ask counts as rejected. */
  readonly expiresAt: string
}

/** An ask that can be decided. */
export interface OpenAsk extends Ask {
  approve(options?: ReplyOptions): Promise<Decided>
  reject(options?: RejectOptions): Promise<Decided>
  answer(value: unknown, options?: ReplyOptions): Promise<Decided>
  edit(value: unknown, options?: ReplyOptions): Promise<Decided>
}

export function toOpenAsk(ask: Ask, asks: AsksClient): OpenAsk {
  return {
    ...ask,
    approve: (options) => asks.approve(ask, options),
    reject: (options) => asks.reject(ask, options),
    answer: (value, options) => asks.answer(ask, value, options),
    edit: (value, options) => asks.edit(ask, value, options),
  }
}

/** Keeps the open asks of a run while its events pass by. */
export function trackAsks(open: Map<string, Ask>, { type, runId, payload }: RunEvent): void {
  if (type === 'hitl_request') {
    // The payload of this event is the ask.
    const ask = payload as unknown as Omit<Ask, 'runId' | 'expiresAt'> & { readonly expiresAt: number }
    open.set(ask.requestId, { ...ask, runId, expiresAt: new Date(ask.expiresAt).toISOString() })
  }
  if (type === 'hitl_resolved') open.delete((payload as unknown as AskRef).requestId)
}
