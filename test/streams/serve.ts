/** Streams over real HTTP with nothing around them: `GET /RUN?until=waits&after=N`, on a loopback port. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createPace, createStop, systemClock } from '../seams/base.ts'
import { createRedactor } from '../seams/domain.ts'
import { type StreamEnd, type StreamOptions, streamEvents } from '../seams/server.ts'

export interface Served {
  readonly url: string
  /** The result of each stream, in the order in which they ended; an error by its message. */
  readonly ends: readonly string[]
  /** Responses that were created, to measure what they keep. */
  readonly responses: readonly ServerResponse[]
  /** Resolves when so many streams have ended. */
  ended(count: number): Promise<readonly string[]>
  /** The server stops: streams are notified, connections are not touched. */
  stop(): void
  close(): Promise<void>
}

type Given = Pick<StreamOptions, 'store'> & Partial<StreamOptions>

export async function serveStreams(given: Given): Promise<Served> {
  const stopping = createStop()
  const pace = createPace()
  const ends: string[] = []
  const responses: ServerResponse[] = []
  const waiting = new Set<() => void>()

  function note(end: string): void {
    ends.push(end)
    for (const look of waiting) look()
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<StreamEnd> {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost')
    const last = request.headers['last-event-id'] ?? searchParams.get('after') ?? 0
    return streamEvents({
      redactor: createRedactor(),
      runId: decodeURIComponent(pathname.slice(1)),
      correlationId: 'c-1',
      after: Number(last),
      until: searchParams.get('until') === 'waits' ? 'waits' : 'over',
      response,
      stop: stopping,
      clock: systemClock,
      pace,
      ...given,
    })
  }

  const server = createServer((request, response) => {
    responses.push(response)
    answer(request, response).then(note, (error: Error) => {
      if (!response.headersSent) response.writeHead(500).end(error.message)
      note(error.message)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ends,
    responses,
    ended(count) {
      return new Promise((resolve) => {
        const look = () => {
          if (ends.length < count) return
          waiting.delete(look)
          resolve(ends)
        }
        waiting.add(look)
        look()
      })
    },
    stop: () => stopping.abort('stopped'),
    close() {
      stopping.abort('stopped')
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}
