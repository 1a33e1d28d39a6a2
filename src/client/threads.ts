/** Threads over the API: conversations of a tenant, one run per message; and what its agents remember beyond them. */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { ClientRun } from './client-run.ts'
import { type MessageEnvelope, type RequestOutput, type RunOutput, toEnvelope } from './run-request.ts'
import { api, createKey, type Transport } from './transport.ts'
import type { Memory, MemoryPage, RunDraft, Thread, ThreadPages, ThreadSummary } from './types.ts'

export interface SayOptions<Schema extends RunOutput = RunOutput> {
  /** Default: the envelope of the last run of the thread; for the first message, the message is the objective. */
  readonly envelope?: MessageEnvelope<Schema>
  readonly draft?: RunDraft
  /** While a run of the thread is not over: wait for it, cancel it, or refuse with 409 `thread/busy`. Default: the server's. */
  readonly whenBusy?: 'queue' | 'interrupt' | 'reject'
  /** The same key and message return the same run, for 24 hours. Default: a new key. */
  readonly idempotencyKey?: string
  /** Models stream from the first call, for `partials()` of the run. Default: only while something reads them. */
  readonly partials?: boolean
  readonly signal?: AbortSignal
}

/** A run that was started by a message, and whether it waits for others. */
export interface SaidMessage<Output = unknown> {
  readonly run: ClientRun<Output>
  readonly status: 'started' | 'queued'
}

export interface ThreadsClient {
  /** Lists threads, last changed first; pages are read as the loop proceeds. */
  list(options?: {
    readonly pageSize?: number
    readonly signal?: AbortSignal
  }): AsyncGenerator<ThreadSummary, void, void>
  /** Its runs with messages, answers and asks, and the messages that wait. */
  get(threadId: string, options?: { readonly signal?: AbortSignal }): Promise<Thread>
  /** Adds a message and starts its run. The answer is typed and validated by `output` of the envelope, if it is not a JSON Schema. */
  say<Schema extends RunOutput>(
    threadId: string,
    message: string,
    options: SayOptions<Schema> & { readonly envelope: { readonly output: Schema } },
  ): Promise<SaidMessage<RequestOutput<Schema>>>
  // The last overload, because compilers report the mistakes of that one.
  say<Output = unknown>(threadId: string, message: string, options?: SayOptions): Promise<SaidMessage<Output>>
}

export function createThreadsClient(
  transport: Transport,
  open: (runId: string, schema?: StandardSchemaV1) => ClientRun<never>,
): ThreadsClient {
  const path = (threadId: string) => `${api}/threads/${encodeURIComponent(threadId)}`
  return {
    async *list({ pageSize: limit, signal } = {}) {
      let before: string | undefined
      do {
        const page = await transport.json<ThreadPages>(`${api}/threads`, { query: { limit, before }, signal })
        yield* page.threads
        before = page.next
      } while (before !== undefined)
    },
    get: (threadId, { signal } = {}) => transport.json<Thread>(path(threadId), { signal }),
    async say(threadId: string, message: string, options: SayOptions = {}) {
      const { idempotencyKey = createKey(), signal, partials = false, envelope, ...given } = options
      const translated = envelope && toEnvelope(envelope)
      const said = await transport.json<{ runId: string; status: 'started' | 'queued' }>(
        `${path(threadId)}/messages`,
        {
          method: 'POST',
          headers: { 'idempotency-key': idempotencyKey },
          ...(partials && { query: { partials: 1 } }),
          body: { message, ...given, ...(translated && { envelope: translated.envelope }) },
          signal,
        },
      )
      return { run: open(said.runId, translated?.validator), status: said.status }
    },
  }
}

/** Needs the role operator. */
export interface MemoriesClient {
  /** What agents remember, newest first; with `search`, the best match first. */
  list(options?: { readonly search?: string; readonly signal?: AbortSignal }): Promise<readonly Memory[]>
  /** Deletes a memory, or the one with this id. */
  delete(memory: string | Pick<Memory, 'id'>, options?: { readonly signal?: AbortSignal }): Promise<void>
}

export function createMemoriesClient(transport: Transport): MemoriesClient {
  return {
    list: async ({ search, signal } = {}) =>
      (await transport.json<MemoryPage>(`${api}/memories`, { query: { search }, signal })).memories,
    async delete(memory, { signal } = {}) {
      const id = typeof memory === 'string' ? memory : memory.id
      await transport.send(`${api}/memories/${encodeURIComponent(id)}`, { method: 'DELETE', signal })
    },
  }
}
