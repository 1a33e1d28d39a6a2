/** `GET runs/:id/events`: the journal of a run, as a stream or page by page. */
import type { Json } from '../../base/json.ts'
import { closed, countOrNone } from '../../domain/schemas/parts.ts'
import { acceptsStream } from '../accepts-stream.ts'
import { pageLimits, readPage } from '../event-page.ts'
import { frameSchema } from '../frame-schema.ts'
import { refusal } from '../problem.ts'
import type { Route } from '../route.ts'
import { api, refusals, requireRun, runParams } from './parts.ts'

export const runEvents: Route = {
  method: 'GET',
  path: `${api}/runs/:runId/events`,
  operation: 'runEvents',
  summary: 'The events of a run: a stream with "Accept: text/event-stream", else a page of JSON',
  roles: ['caller', 'operator'],
  params: runParams,
  query: closed({ after: countOrNone, limit: { type: 'integer', minimum: 1, maximum: pageLimits.most } }),
  replies: {
    200: {
      description:
        'Frames, each once and in order. As a stream until the run is over, from after `Last-Event-ID`; as JSON { events, next }',
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
    204: { description: 'As a stream: the run is over, and the reader has seen its end' },
    ...refusals(404),
  },
  async handle({ caller, params, query, headers }, { app }) {
    const head = await requireRun(app, caller, params['runId'] ?? '')
    const { runId, correlationId } = head
    const seen = headers['last-event-id']
    if (seen !== undefined && !/^\d{1,15}$/.test(seen))
      return refusal('request/unreadable', 'Last-Event-ID must be the id of a frame: a whole number', {
        hint: 'Send the id of the last frame that you have seen, or leave the header out',
      })
    const after = seen === undefined ? Number(query['after'] ?? 0) : Number(seen)
    // Whoever waited there would miss everything that comes before it.
    if (after > head.seq)
      return refusal('request/unreadable', `The run has ${head.seq} events so far, and none ${after}`, {
        hint: 'Send the id of the last frame of this run that you have seen, or begin anew without it',
      })
    if (acceptsStream(headers['accept'])) return { stream: 'events', runId, after, until: 'over' }
    const limit = Number(query['limit'] ?? pageLimits.usual)
    const page = await readPage(app.store, { runId, correlationId, redactor: app.redactor, after, limit })
    // Frames are JSON: they came out of the journal.
    return { status: 200, body: page as unknown as Json }
  },
}
