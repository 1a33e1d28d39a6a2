/**
 * Follows the events of a run over server-sent events. Reconnects after the last event received, so there is no gap and no
 * duplicate, however often the connection is cut: the stream of the server is a cursor on the journal.
 */
import { createParser } from 'eventsource-parser'
import { ClientError, isRetryable } from './client-error.ts'
import { backoffMs, createRetries, sleep, toUnreachable } from './retry.ts'
import { api, type Transport } from './transport.ts'
import type { PartialFrame, RunEvent, RunPartial } from './types.ts'

export interface FollowOptions {
  /** Only events after this sequence number. Default 0: all. */
  readonly after?: number
  readonly signal?: AbortSignal
}

/** Yields every event once and in order, and returns after `complete`. Rejects with the reason of the signal if it aborts. */
export async function* followEvents(
  transport: Transport,
  runId: string,
  options: FollowOptions = {},
): AsyncGenerator<RunEvent, void, void> {
  for await (const frame of followFrames(transport, runId, options)) if (isEvent(frame)) yield frame
}

/** Yields partial values until the run ends; after a reconnect, the current ones first. */
export async function* followPartials(
  transport: Transport,
  runId: string,
  options: FollowOptions = {},
): AsyncGenerator<RunPartial, void, void> {
  for await (const frame of followFrames(transport, runId, { ...options, partials: true })) {
    if (!isEvent(frame)) yield toPartial(runId, frame)
  }
}

/** An event, or a partial value between events. */
export type RunUpdate =
  | { readonly kind: 'event'; readonly event: RunEvent }
  | { readonly kind: 'partial'; readonly partial: RunPartial }

/** Yields events and partial values over one connection. */
export async function* followUpdates(
  transport: Transport,
  runId: string,
  options: FollowOptions = {},
): AsyncGenerator<RunUpdate, void, void> {
  for await (const frame of followFrames(transport, runId, { ...options, partials: true }))
    yield isEvent(frame)
      ? { kind: 'event', event: frame }
      : { kind: 'partial', partial: toPartial(runId, frame) }
}

function toPartial(runId: string, { nodeId, payload }: PartialFrame): RunPartial {
  const { attempt, value, turn } = payload
  return { runId, nodeId, attempt, value, ...(turn && { turn }) }
}

type AnyFrame = RunEvent | PartialFrame

function isEvent(frame: AnyFrame): frame is RunEvent {
  return frame.type !== 'partial'
}

interface FrameOptions extends FollowOptions {
  readonly partials?: boolean
}

async function* followFrames(
  transport: Transport,
  runId: string,
  { after = 0, signal, partials = false }: FrameOptions,
): AsyncGenerator<AnyFrame, void, void> {
  const retries = createRetries(transport.retry, signal)
  const cursor: Cursor = { at: after, quiet: 0 }
  for (;;) {
    signal?.throwIfAborted()
    const connection = openConnection(transport, signal)
    try {
      const response = await connection.open(runId, { after: cursor.at, partials })
      retries.reset()
      // The run is over, and its last event was received before.
      if (response.status === 204 || response.body === null) return
      for await (const event of connection.read(response.body)) {
        if (!isEvent(event)) {
          yield event
          continue
        }
        // A repeated event. After a gap the events in between are read again.
        if (event.id <= cursor.at) continue
        if (event.id !== cursor.at + 1) break
        cursor.at = event.id
        cursor.quiet = 0
        yield event
        if (event.type === 'complete') return
      }
    } catch (error) {
      signal?.throwIfAborted()
      if (error instanceof ClientError && !isRetryable(error)) throw error
      // Once the server has answered, a failure is a cut connection, after which the delay below counts.
      if (!connection.isOpen()) {
        await retries.wait(error)
        continue
      }
    } finally {
      connection.close()
    }
    const { maxMs = Number.POSITIVE_INFINITY } = transport.retry
    const asked = Math.min(connection.retryMs(), maxMs)
    await sleep(backoffMs(cursor.quiet++, transport.retry, asked), signal)
  }
}

interface Cursor {
  /** Sequence number of the last event. */
  at: number
  /** How many connections in a row brought no event. */
  quiet: number
}

interface Connection {
  open(runId: string, from: { readonly after: number; readonly partials: boolean }): Promise<Response>
  read(body: ReadableStream<Uint8Array>): AsyncGenerator<AnyFrame, void, void>
  /** Whether the server has answered. */
  isOpen(): boolean
  /** The delay that a server which stops asks for; 0 otherwise. */
  retryMs(): number
  close(): void
}

/** The delay that every stream of the server names first; only another one is a wish to wait. */
const usualRetryMs = 1_000

function openConnection(transport: Transport, signal: AbortSignal | undefined): Connection {
  const { idleMs } = transport
  const end = new AbortController()
  const abort = () => end.abort(signal?.reason)
  signal?.addEventListener('abort', abort, { once: true })
  let timer: ReturnType<typeof setTimeout> | undefined
  let isOpen = false
  let asked = 0
  const expectBytes = () => {
    clearTimeout(timer)
    timer = setTimeout(() => end.abort(silence(idleMs)), idleMs)
  }
  return {
    isOpen: () => isOpen,
    retryMs: () => asked,
    async open(runId, { after, partials }) {
      expectBytes()
      try {
        const response = await transport.send(`${api}/runs/${encodeURIComponent(runId)}/events`, {
          ...(partials && { query: { partials: 1 } }),
          headers: {
            accept: 'text/event-stream',
            ...(after > 0 && { 'last-event-id': String(after) }),
          },
          signal: end.signal,
        })
        isOpen = true
        requireStream(response)
        return response
      } catch (error) {
        throw end.signal.aborted && !signal?.aborted ? toUnreachable(error, 'the server', undefined) : error
      }
    },
    async *read(body) {
      const events: AnyFrame[] = []
      const parser = createParser({
        onEvent: ({ data }) => void events.push(readFrame(data)),
        onRetry: (ms) => {
          asked = ms === usualRetryMs ? 0 : ms
        },
      })
      const decoder = new TextDecoder()
      const reader = body.getReader()
      try {
        for (;;) {
          expectBytes()
          const { done, value } = await reader.read()
          if (done) return
          parser.feed(decoder.decode(value, { stream: true }))
          yield* events.splice(0)
        }
      } finally {
        // Cancelling fails if the connection has failed already.
        reader.cancel().catch(() => {})
      }
    },
    close() {
      clearTimeout(timer)
      signal?.removeEventListener('abort', abort)
      end.abort()
    },
  }
}

/** Throws for a response that is not a stream, such as the page of a proxy. */
function requireStream({ status, headers }: Response): void {
  const type = headers.get('content-type') ?? 'none'
  if (status === 204 || type.startsWith('text/event-stream')) return
  throw new ClientError(
    'client/unexpected-response',
    `The content type of the events must be text/event-stream, got ${type}`,
    { status, hint: 'Check that `url` is the address of a Proviso server' },
  )
}

/** Reads a frame. A frame that was cut off never gets here: it ends with an empty line. */
function readFrame(data: string): AnyFrame {
  try {
    return JSON.parse(data)
  } catch (cause) {
    throw new ClientError('client/unexpected-response', 'An event of the stream is not JSON', { cause })
  }
}

function silence(ms: number): ClientError {
  return new ClientError('client/unreachable', `The server sent nothing for ${ms} ms`)
}
