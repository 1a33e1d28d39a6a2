/** The client of a Proviso server, for browsers and Node: starts runs, follows them and decides asks. */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { type AsksClient, createAsksClient } from './asks.ts'
import { ClientError } from './client-error.ts'
import { type ClientRun, createClientRun } from './client-run.ts'
import { api, type ClientOptions, createKey, createTransport } from './transport.ts'
import type { Begun, RunEnvelope, RunPage, RunPages, RunQuery, RunSummary } from './types.ts'

export interface StartOptions {
  /** The same key and envelope return the same run, for 24 hours. Default: a new key, so that retries start no second run. */
  readonly idempotencyKey?: string
  /** The plan; absent: the server makes it. */
  readonly draft?: { readonly [name: string]: unknown }
  readonly threadId?: string
  readonly correlationId?: string
  readonly signal?: AbortSignal
}

/** A schema of Zod, Valibot, ArkType and others that validates and types the output. */
export interface OutputOption<Schema extends StandardSchemaV1> {
  readonly output: Schema
}

type OutputOf<Schema extends StandardSchemaV1> = StandardSchemaV1.InferOutput<Schema>

export interface RunsClient {
  /** Starts a run. With `output`, the answer is validated and typed by that schema. */
  start<Schema extends StandardSchemaV1>(
    envelope: RunEnvelope,
    options: StartOptions & OutputOption<Schema>,
  ): Promise<ClientRun<OutputOf<Schema>>>
  /** Starts a run. Name the type of its answer (`start<Line>(…)`) if you trust the contract of the envelope. */
  start<Output = unknown>(envelope: RunEnvelope, options?: StartOptions): Promise<ClientRun<Output>>
  /** Returns the handle of a run without a request. */
  attach<Schema extends StandardSchemaV1>(
    runId: string,
    options: OutputOption<Schema>,
  ): ClientRun<OutputOf<Schema>>
  attach<Output = unknown>(runId: string): ClientRun<Output>
  /** Everything that the server shows about a run. */
  get(runId: string, options?: { readonly signal?: AbortSignal }): Promise<RunPage>
  /** Lists runs, newest first; pages are read as the loop proceeds. */
  list(query?: RunQuery, options?: { readonly signal?: AbortSignal }): AsyncGenerator<RunSummary, void, void>
}

export interface Client {
  readonly runs: RunsClient
  readonly asks: AsksClient
}

/**
 * @example
 * const client = createClient({ url: 'http://127.0.0.1:3003', token })
 * const run = await client.runs.start<{ line: string }>(envelope)
 * for await (const event of run.events()) console.log(event.type)
 * const { line } = await run.output()
 */
export function createClient(options: ClientOptions): Client {
  if (!URL.canParse(options.url))
    throw new ClientError(
      'client/option',
      `url must be an address such as http://127.0.0.1:3003, got "${options.url}"`,
    )
  const transport = createTransport(options)
  const asks = createAsksClient(transport)
  const open = (runId: string, schema?: StandardSchemaV1) =>
    createClientRun<never>(runId, { transport, asks, schema })
  return {
    asks,
    runs: {
      async start(envelope: RunEnvelope, given: StartOptions & Partial<OutputOption<StandardSchemaV1>> = {}) {
        const { idempotencyKey = createKey(), signal, output, ...more } = given
        const { runId } = await transport.json<Begun>(`${api}/runs`, {
          method: 'POST',
          headers: { 'idempotency-key': idempotencyKey },
          body: { envelope, ...more },
          signal,
        })
        return open(runId, output)
      },
      attach: (runId: string, given: Partial<OutputOption<StandardSchemaV1>> = {}) =>
        open(runId, given.output),
      get: (runId, given) => open(runId).get(given),
      async *list(query = {}, { signal } = {}) {
        let before: string | undefined
        do {
          const page = await transport.json<RunPages>(`${api}/runs`, { query: { ...query, before }, signal })
          yield* page.runs
          before = page.next
        } while (before !== undefined)
      },
    },
  }
}
