/** `GET runs/:id/events`: the journal of a run, as a stream or page by page. */
import type { Json } from '../../base/json.ts'
import { frameOf } from '../../domain/frame.ts'
import { closed, countOrNone } from '../../domain/schemas/parts.ts'
import { refusal } from '../problem.ts'
import type { Route } from '../route.ts'
import { api, over, refusals, requireRun, runParams } from './parts.ts'

/** The longest page. */
const mostEvents = 500

export const runEvents: Route = {
  method: 'GET',
  path: `${api}/runs/:runId/events`,
  operation: 'runEvents',
  summary: 'The events of a run: a stream with "Accept: text/event-stream", else a page of JSON',
  roles: ['caller', 'operator'],
  params: runParams,
  query: closed({ after: countOrNone, limit: { type: 'integer', minimum: 1, maximum: mostEvents } }),
  replies: {
    200: {
      description:
        'Frames, each once and in order. As a stream until the run is over, from after `Last-Event-ID`; as JSON { events, next }',
      type: 'text/event-stream',
    },
    ...refusals(404),
  },
  async handle({ caller, params, query, headers }, { app }) {
    const head = await requireRun(app, caller, params['runId'] ?? '')
    const { runId, correlationId } = head
    const seen = headers['last-event-id']
    if (seen !== undefined && !/^\d{1,15}$/.test(seen))
      return refusal('request/unreadable', 'Last-Event-ID must be the id of a frame: a whole number')
    const after = seen === undefined ? Number(query['after'] ?? 0) : Number(seen)
    if (headers['accept']?.includes('text/event-stream'))
      return { stream: 'events', runId, after, until: 'over' }
    const limit = Number(query['limit'] ?? mostEvents)
    const events = await app.store.read(runId, after, limit)
    const last = events.at(-1)
    const isEnd = last?.type === 'complete' || (last === undefined && over.has(head.status))
    return {
      status: 200,
      body: {
        // Frames are JSON: they came out of the journal.
        events: events.map((event) => frameOf(event, correlationId, app.redactor)) as unknown as Json,
        ...(!isEnd && { next: last?.seq ?? after }),
      },
    }
  },
}
