/** `GET runs/:id/events`: the journal of a run, as a stream or page by page. */
import type { Json } from '../../base/json.ts'
import { closed, countOrNone } from '../../domain/schemas/parts.ts'
import { refusal } from '../problem.ts'
import type { Route } from '../route.ts'
import { pageLimits, readPage } from '../stream/event-page.ts'
import { frameSchema } from '../stream/frame-schema.ts'
import { acceptsStream } from '../stream/streams.ts'
import { api, refusals, requireRun, runParams } from './parts.ts'

export const runEvents: Route = {
  method: 'GET',
  path: `${api}/runs/:runId/events`,
  operation: 'runEvents',
  summary: 'Read the events of a run: a stream with "Accept: text/event-stream", else a page of JSON',
  roles: ['caller', 'operator'],
  params: runParams,
  query: closed({ after: countOrNone, limit: { type: 'integer', minimum: 1, maximum: pageLimits.most } }),
  replies: {
    200: {
      description:
        'Frames, each once and in order. As a stream after `Last-Event-ID` until the run is over; as JSON { events, next }',
      type: 'text/event-stream',
      schema: {
        type: 'object',
        required: ['events'],
        properties: {
          events: { type: 'array', items: frameSchema },
          next: { type: 'integer' },
        },
      },
    },
    204: { description: 'For a stream: the run is over, and the client has received its last event' },
    ...refusals(404),
  },
  async handle({ caller, params, query, headers }, { app }) {
    const head = await requireRun(app, caller, params['runId'] ?? '')
    const { runId, correlationId } = head
    const seen = headers['last-event-id']
    if (seen !== undefined && !/^\d{1,15}$/.test(seen))
      return refusal('request/unreadable', 'Last-Event-ID must be the id of a frame, a whole number', {
        hint: 'Send the id of the last frame you received, or omit the header',
      })
    const after = seen === undefined ? Number(query['after'] ?? 0) : Number(seen)
    // A client that waits there would miss every event before it.
    if (after > head.seq)
      return refusal(
        'request/unreadable',
        `Last-Event-ID must be at most ${head.seq}, the last event of the run, got ${after}`,
        {
          hint: 'Send the id of the last frame you received of this run, or omit the header to start from the first',
        },
      )
    if (acceptsStream(headers['accept'])) return { stream: 'events', runId, after, until: 'over' }
    const limit = Number(query['limit'] ?? pageLimits.usual)
    const page = await readPage(app.store, { runId, correlationId, redactor: app.redactor, after, limit })
    // Frames are JSON, because they come from the journal.
    return { status: 200, body: page as unknown as Json }
  },
}
