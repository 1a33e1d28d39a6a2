/** The client of a Proviso server, for browsers and Node: starts runs, follows them and decides asks. */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { type AsksClient, createAsksClient } from './asks.ts'
import { ClientError } from './client-error.ts'
import { type ClientRun, createClientRun } from './client-run.ts'
import { type RequestOutput, type RunOutput, type RunRequest, toEnvelope } from './run-request.ts'
import { createSandboxClient, type SandboxClient } from './sandbox.ts'
import { createSchedulesClient, type SchedulesClient } from './schedules/schedules.ts'
import { createTasksClient, type TasksClient } from './tasks.ts'
import {
  createMemoriesClient,
  createThreadsClient,
  type MemoriesClient,
  type ThreadsClient,
} from './threads.ts'
import { api, type ClientOptions, createKey, createTransport } from './transport.ts'
import type {
  Begun,
  CallerInfo,
  CapabilityPage,
  CodeExchange,
  FacetPage,
  HealthQuery,
  HealthReport,
  ProofPage,
  RunDraft,
  RunEnvelope,
  RunPage,
  RunPages,
  RunQuery,
  RunSummary,
  SignedIn,
  SignInChoice,
  SystemStatus,
} from './types.ts'
import { createWebhooksClient, type WebhooksClient } from './webhooks.ts'

export interface StartOptions {
  /** The same key and envelope return the same run, for 24 hours. Default: a new key, so that retries start no second run. */
  readonly idempotencyKey?: string
  /** The plan; absent: the server makes it. */
  readonly draft?: RunDraft
  readonly threadId?: string
  /** While a run of the thread is not over: wait for it, cancel it, or refuse with 409 `thread/busy`. Default: the server's. */
  readonly whenBusy?: 'queue' | 'interrupt' | 'reject'
  readonly correlationId?: string
  /** Models stream from the first call, for `partials()` of the run. Default: only while something reads them. */
  readonly partials?: boolean
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
  // The last overload, because compilers report the mistakes of that one.
  /** Starts a run, in the short names of the library. The answer is typed and validated by `output`, if it is not a JSON Schema. */
  start<Output extends RunOutput>(
    request: RunRequest<Output>,
    options?: StartOptions,
  ): Promise<ClientRun<RequestOutput<Output>>>
  /** Returns the handle of a run without a request. */
  attach<Schema extends StandardSchemaV1>(
    runId: string,
    options: OutputOption<Schema>,
  ): ClientRun<OutputOf<Schema>>
  attach<Output = unknown>(runId: string): ClientRun<Output>
  /** Everything that the server shows about a run. */
  get(runId: string, options?: { readonly signal?: AbortSignal }): Promise<RunPage>
  /** Lists runs, newest first; pages are read as the loop proceeds. */
  list(query?: RunQuery, options?: ListOptions): AsyncGenerator<RunSummary, void, void>
}

export interface ListOptions {
  /** Runs per request, at most 100. Default 20. */
  readonly pageSize?: number
  readonly signal?: AbortSignal
}

/** Sign-in at an identity provider, for user interfaces: authorization code with PKCE. */
export interface SignInClient {
  /** Where to sign in; without `oidc`, only by a token. Needs no token. */
  show(options?: { readonly signal?: AbortSignal }): Promise<SignInChoice>
  /** Exchanges the code that the provider returned for a token. */
  exchange(code: CodeExchange, options?: { readonly signal?: AbortSignal }): Promise<SignedIn>
}

/** What plans are made of. */
export interface CatalogClient {
  capabilities(options?: { readonly signal?: AbortSignal }): Promise<CapabilityPage>
  facets(options?: { readonly signal?: AbortSignal }): Promise<FacetPage>
}

export interface Client {
  /** Who the token belongs to, and which optional features the server has. */
  me(options?: { readonly signal?: AbortSignal }): Promise<CallerInfo>
  /** Plans an envelope, or checks its draft, and returns the proof. Nothing is stored or called. */
  prove(
    envelope: RunEnvelope | RunRequest,
    options?: {
      readonly draft?: RunDraft
      readonly signal?: AbortSignal
    },
  ): Promise<ProofPage>
  readonly catalog: CatalogClient
  /** How well models satisfy their contracts. Needs the role operator. */
  health(query?: HealthQuery, options?: { readonly signal?: AbortSignal }): Promise<HealthReport>
  /** Queue, leases, stuck runs and processes of all tenants. Needs the role operator in the tenant `default`. */
  status(options?: { readonly signal?: AbortSignal }): Promise<SystemStatus>
  /** Only on servers with the sandbox enabled. */
  readonly sandbox: SandboxClient
  readonly signIn: SignInClient
  readonly runs: RunsClient
  readonly asks: AsksClient
  readonly tasks: TasksClient
  readonly threads: ThreadsClient
  readonly memories: MemoriesClient
  readonly schedules: SchedulesClient
  readonly webhooks: WebhooksClient
}

/**
 * @example
 * const client = createClient({ url: 'http://127.0.0.1:3003', token })
 * const run = await client.runs.start({ objective: 'One line about tea', inputs: { topic: 'tea' }, output: Line })
 * for await (const event of run.events()) console.log(event.type)
 * const { line } = await run.output()
 */
export function createClient(options: ClientOptions): Client {
  // A path is of the server that the page comes from.
  if (!/^(https?:\/\/.|\/(?!\/))/.test(options.url))
    throw new ClientError('client/option', `url must be an address or a path, got "${options.url}"`)
  const transport = createTransport(options)
  const asks = createAsksClient(transport)
  const open = (runId: string, schema?: StandardSchemaV1) =>
    createClientRun<never>(runId, { transport, asks, schema })
  return {
    me: ({ signal } = {}) => transport.json<CallerInfo>(`${api}/me`, { signal }),
    prove: (envelope, { signal, draft } = {}) =>
      transport.json<ProofPage>(`${api}/prove`, {
        method: 'POST',
        body: { envelope: toEnvelope(envelope).envelope, ...(draft && { draft }) },
        signal,
      }),
    catalog: {
      capabilities: ({ signal } = {}) => transport.json<CapabilityPage>(`${api}/capabilities`, { signal }),
      facets: ({ signal } = {}) => transport.json<FacetPage>(`${api}/facets`, { signal }),
    },
    health: (query = {}, { signal } = {}) => transport.json<HealthReport>(`${api}/health`, { query, signal }),
    status: ({ signal } = {}) => transport.json<SystemStatus>(`${api}/status`, { signal }),
    sandbox: createSandboxClient(transport),
    signIn: {
      show: ({ signal } = {}) => transport.json<SignInChoice>(`${api}/sign-in`, { signal }),
      exchange: (body, { signal } = {}) =>
        transport.json<SignedIn>(`${api}/sign-in`, { method: 'POST', body, signal }),
    },
    asks,
    tasks: createTasksClient(transport),
    threads: createThreadsClient(transport, open),
    memories: createMemoriesClient(transport),
    schedules: createSchedulesClient(transport),
    webhooks: createWebhooksClient(transport),
    runs: {
      async start(
        request: RunEnvelope | RunRequest,
        given: StartOptions & Partial<OutputOption<StandardSchemaV1>> = {},
      ) {
        const { idempotencyKey = createKey(), signal, output, partials = false, ...more } = given
        const { envelope, validator } = toEnvelope(request)
        const { runId } = await transport.json<Begun>(`${api}/runs`, {
          method: 'POST',
          ...(partials && { query: { partials: 1 } }),
          headers: { 'idempotency-key': idempotencyKey },
          body: { envelope, ...more },
          signal,
        })
        return open(runId, output ?? validator)
      },
      attach: (runId: string, given: Partial<OutputOption<StandardSchemaV1>> = {}) =>
        open(runId, given.output),
      get: (runId, given) => open(runId).get(given),
      async *list(query = {}, { signal, pageSize } = {}) {
        let before: string | undefined
        do {
          const page = await transport.json<RunPages>(`${api}/runs`, {
            query: { ...query, limit: pageSize, before },
            signal,
          })
          yield* page.runs
          before = page.next
        } while (before !== undefined)
      },
    },
  }
}
