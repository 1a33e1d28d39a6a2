/** The handle of a run on a server: its events, asks, result and output. */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { type Ask, type AsksClient, type OpenAsk, toOpenAsk, trackAsks } from './asks.ts'
import { ClientError } from './client-error.ts'
import {
  type FollowOptions,
  followEvents,
  followPartials,
  followUpdates,
  type RunUpdate,
} from './run-events.ts'
import { api, createKey, type Transport } from './transport.ts'
import type {
  Cancelled,
  EventPage,
  OutputPage,
  ReplayChanges,
  Replayed,
  RunEvent,
  RunFailure,
  RunPage,
  RunPartial,
  RunStatus,
} from './types.ts'

/** One located problem of a failed run. */
export interface RunIssue {
  /** Stable code, such as `contract/unmet` or the code of a validation issue. */
  readonly code: string
  /** Where in the value: a JSON Pointer; absent for a place in the text that a model wrote. */
  readonly at: { readonly pointer?: string }
  readonly message: string
  /** What to do about it. */
  readonly hint?: string
  readonly expected?: unknown
  readonly actual?: unknown
}

/** How a run ended, or that it waits for a person. */
export type RunResult<Output> =
  | { readonly status: 'completed'; readonly runId: string; readonly output: Output }
  | {
      readonly status: 'failed'
      readonly runId: string
      readonly error: RunFailure
      /** Why there is no output: at least one. */
      readonly issues: readonly RunIssue[]
    }
  | {
      readonly status: 'waiting'
      readonly runId: string
      /** Open asks; empty if a policy has paused the run. */
      readonly asks: readonly OpenAsk[]
      /** Why the run continues only when it is resumed; absent if its asks are all that it waits for. */
      readonly paused?: NonNullable<RunPage['paused']>
    }
  | { readonly status: 'cancelled'; readonly runId: string }

export interface ResultOptions {
  /** `person` (default): also when the run waits for a person. `end`: only when it has ended. */
  readonly until?: 'person' | 'end'
  readonly signal?: AbortSignal
}

export interface ClientRun<Output> {
  readonly id: string
  /** Yields every event once and in order until the run ends; reconnects by itself. Leaving the loop does not affect the run. */
  events(options?: FollowOptions): AsyncGenerator<RunEvent, void, void>
  /**
   * Yields values of nodes while models and agents write them, until the run ends; first, the current ones. Start the run with
   * `partials: true` to have its models stream from the first call. A slow reader gets the newest values only.
   */
  partials(options?: { readonly signal?: AbortSignal }): AsyncGenerator<RunPartial, void, void>
  /** Yields events and, between them, values that are being written, over one connection. */
  updates(options?: FollowOptions): AsyncGenerator<RunUpdate, void, void>
  /** Reads one page of events without following the run; pass `next` as `after` for the next one. */
  page(options?: {
    readonly after?: number
    /** The last events, as many as this, instead of `after`. */
    readonly last?: number
    readonly limit?: number
    readonly signal?: AbortSignal
  }): Promise<EventPage>
  /** Yields every ask that is open now or opens later, once, until the run ends. Decisions need the role operator. */
  asks(options?: { readonly signal?: AbortSignal }): AsyncGenerator<OpenAsk, void, void>
  /** Resolves when the run ends or waits for a person: check `status`. Does not throw for runs that failed. */
  result(options?: ResultOptions): Promise<RunResult<Output>>
  /** Resolves to the answer of a completed run. Else throws a `RunError`: `run/failed`, `run/cancelled` or `run/waiting`. */
  output(options?: ResultOptions): Promise<Output>
  /** Everything that the server shows about the run. */
  get(options?: { readonly signal?: AbortSignal }): Promise<RunPage>
  /** Decides the recorded run again, without calls; with other policies or thresholds, lists what would differ. Needs the role operator. */
  replay(changes?: ReplayChanges, options?: { readonly signal?: AbortSignal }): Promise<Replayed>
  /** Resumes a paused run. Needs the role operator. */
  resume(options?: {
    readonly expectedPlanVersion?: number
    readonly note?: string
    readonly signal?: AbortSignal
  }): Promise<void>
  /** Cancels the run. A run that has ended does not change. */
  cancel(options?: {
    readonly reason?: string
    readonly signal?: AbortSignal
  }): Promise<{ readonly status: RunStatus }>
}

/** Why `output()` has no answer: `run/failed`, `run/cancelled` or `run/waiting`. */
export class RunError extends ClientError {
  override readonly name = 'RunError'
  readonly result: Exclude<RunResult<never>, { status: 'completed' }>

  constructor(result: RunError['result']) {
    super(`run/${result.status}`, describeEnd(result), { hint: chooseHint(result) })
    this.result = result
  }
}

/** The hint of the failure, where the server gave one. */
function chooseHint(result: RunError['result']): string {
  const hint = result.status === 'failed' ? result.error.details?.['hint'] : undefined
  return typeof hint === 'string' ? hint : 'Check `result` of this error'
}

function describeEnd(result: RunError['result']): string {
  const { runId } = result
  if (result.status === 'failed') return `Run "${runId}" failed: ${result.error.message}`
  if (result.status === 'cancelled') return `Run "${runId}" was cancelled`
  const [first] = result.asks
  return `Run "${runId}" waits for a person: ${first?.question ?? result.paused?.reason ?? 'no reason given'}`
}

const waiting: ReadonlySet<RunStatus> = new Set<RunStatus>(['awaiting_hitl', 'awaiting_human', 'quarantined'])
const ended: ReadonlySet<RunStatus> = new Set<RunStatus>(['completed', 'failed', 'cancelled'])

/** Events after which a run may wait without an ask. */
const pausing: ReadonlySet<RunEvent['type']> = new Set<RunEvent['type']>(['policy_triggered', 'quarantined'])

interface RunParts {
  readonly transport: Transport
  readonly asks: AsksClient
  /** Validates and converts the answer. */
  readonly schema?: StandardSchemaV1 | undefined
}

export function createClientRun<Output>(id: string, parts: RunParts): ClientRun<Output> {
  const { transport, asks } = parts
  const path = `${api}/runs/${encodeURIComponent(id)}`
  const get: ClientRun<Output>['get'] = ({ signal } = {}) => transport.json<RunPage>(path, { signal })
  const events: ClientRun<Output>['events'] = (options) => followEvents(transport, id, options)

  /** Follows the run until it waits or has ended; returns what it waits for, or undefined at the end. */
  const waitForPerson = async (seen: number, signal: AbortSignal | undefined) => {
    const open = new Map<string, Ask>()
    let known = seen
    let mayPause = false
    for await (const event of events(signal ? { signal } : {})) {
      trackAsks(open, event)
      if (pausing.has(event.type)) mayPause = true
      if (event.id < known || event.type === 'attempt_start' || (open.size === 0 && !mayPause)) continue
      // Other work of the run may be in progress: its status decides, as of its last event.
      const page = await get({ ...(signal && { signal }) })
      known = page.run.events
      if (known > event.id || !waiting.has(page.run.status)) continue
      const { paused } = page
      const list = [...open.values()].map((ask) => toOpenAsk(ask, asks))
      return { status: 'waiting', runId: id, asks: list, ...(paused && { paused }) } as const
    }
    return undefined
  }

  const readEnd = async (
    { run, output }: RunPage,
    signal: AbortSignal | undefined,
  ): Promise<RunResult<Output>> => {
    if (run.status === 'cancelled') return { status: 'cancelled', runId: id }
    if (run.status === 'completed') {
      const page = await transport.json<OutputPage>(`${path}/output`, { signal })
      return { status: 'completed', runId: id, output: await readOutput<Output>(page.output, parts.schema) }
    }
    const error = output?.error ?? unknownFailure
    return { status: 'failed', runId: id, error, issues: listIssues(error) }
  }

  const result: ClientRun<Output>['result'] = async ({ until = 'person', signal } = {}) => {
    const page = await get({ ...(signal && { signal }) })
    if (ended.has(page.run.status)) return readEnd(page, signal)
    if (until === 'person') {
      const found = await waitForPerson(page.run.events, signal)
      if (found) return found
    } else {
      // Only the end counts: nothing before the events known here.
      for await (const _ of events({ after: page.run.events, ...(signal && { signal }) }));
    }
    return readEnd(await get({ ...(signal && { signal }) }), signal)
  }

  return {
    id,
    events,
    result,
    get,
    async output(options) {
      const end = await result(options)
      if (end.status === 'completed') return end.output
      throw new RunError(end)
    },
    async *partials(options = {}) {
      const { run } = await get(options)
      if (!ended.has(run.status)) yield* followPartials(transport, id, { ...options, after: run.events })
    },
    updates: (options) => followUpdates(transport, id, options),
    page: ({ signal, ...query } = {}) => transport.json<EventPage>(`${path}/events`, { query, signal }),
    async *asks({ signal } = {}) {
      const { run } = await get({ ...(signal && { signal }) })
      const open = new Map<string, Ask>()
      const seen = new Set<string>()
      for await (const event of events(signal ? { signal } : {})) {
        trackAsks(open, event)
        // Asks of the past may have been decided: they are known once everything so far was read.
        if (event.id < run.events) continue
        for (const ask of [...open.values()].filter(({ requestId }) => !seen.has(requestId))) {
          seen.add(ask.requestId)
          yield toOpenAsk(ask, asks)
        }
      }
    },
    ...createRunActions(id, transport),
  }
}

/** What changes a run, or decides it again. */
function createRunActions(
  id: string,
  transport: Transport,
): Pick<ClientRun<unknown>, 'replay' | 'resume' | 'cancel'> {
  const path = `${api}/runs/${encodeURIComponent(id)}`
  return {
    replay: (changes = {}, { signal } = {}) =>
      transport.json<Replayed>(`${path}/replay`, { method: 'POST', body: changes, signal }),
    async resume({ signal, ...given } = {}) {
      const response = await transport.send(`${api}/run.resume`, {
        method: 'POST',
        headers: { accept: 'text/event-stream', 'idempotency-key': createKey() },
        body: { runId: id, ...given },
        signal,
      })
      // The run is resumed; `events` follows it.
      await response.body?.cancel()
    },
    cancel: ({ reason, signal } = {}) =>
      transport.json<Cancelled>(`${path}/cancel`, {
        method: 'POST',
        headers: { 'idempotency-key': createKey() },
        body: reason === undefined ? {} : { reason },
        signal,
      }),
  }
}

/** A failed run always has an error; this one is for servers that lost it, such as after an erasure. */
const unknownFailure: RunFailure = {
  type: 'TASK_FAILURE',
  reason: 'unknown',
  message: 'the server has no error of this run',
  details: {},
  path: '',
}

/** The issues of a failure; one without any of its own becomes one, as in the library. */
function listIssues({ message, reason, details }: RunFailure): readonly RunIssue[] {
  const { issues, code, hint } = details
  // As the server has written them.
  if (Array.isArray(issues) && issues.length > 0) return issues as readonly RunIssue[]
  const name = typeof code === 'string' ? code : reason
  return [{ code: name, at: { pointer: '' }, message, ...(typeof hint === 'string' && { hint }) }]
}

/** Validates the answer by the schema of the caller, if there is one; without one the caller has named the type. */
async function readOutput<Output>(value: unknown, schema: StandardSchemaV1 | undefined): Promise<Output> {
  if (schema === undefined) return value as Output
  const validated = await schema['~standard'].validate(value)
  if (!validated.issues) return validated.value as Output
  const issues = validated.issues.map(({ message, path = [] }) => ({
    pointer: path.map((part) => `/${escapeKey(typeof part === 'object' ? part.key : part)}`).join(''),
    code: 'client/output-invalid',
    message,
  }))
  throw new ClientError(
    'client/output-invalid',
    `The output does not satisfy the schema of this program: ${issues[0]?.pointer || '/'} ${issues[0]?.message}`,
    { issues, hint: 'Give the run an `outputContract` that the schema accepts' },
  )
}

/** Escapes a member name for a JSON Pointer. */
function escapeKey(key: PropertyKey): string {
  return String(key).replaceAll('~', '~0').replaceAll('/', '~1')
}
