/** `POST runs/:id/replay`: decides a recorded run again, without calls; with other policies or thresholds, what would differ. */
import type { Json } from '../../base/json.ts'
import { closed, map, text } from '../../domain/schemas/parts.ts'
import { refusal } from '../problem.ts'
import type { Route } from '../route.ts'
import { api, ok, refusals, requireRun, runParams } from './parts.ts'

export const replayRun: Route = {
  method: 'POST',
  path: `${api}/runs/:runId/replay`,
  operation: 'replayRun',
  summary:
    'Replay a run offline, without calls; with other policies or node data, list the decisions that would differ',
  roles: ['operator'],
  params: runParams,
  body: {
    anyOf: [{ type: 'null' }, closed({ policies: { type: 'array' }, nodeData: map })],
  },
  replies: {
    200: ok('What the engine would decide', {
      type: 'object',
      required: ['events', 'decisions', 'differences'],
      properties: {
        events: { type: 'integer' },
        decisions: { type: 'integer' },
        differences: {
          type: 'array',
          items: {
            type: 'object',
            required: ['after', 'recorded', 'instead'],
            properties: {
              /** Sequence number of the last event before the decision. */
              after: { type: 'integer' },
              recorded: { type: 'array', items: { type: 'string' } },
              instead: { type: 'array', items: text },
            },
          },
        },
      },
    }),
    ...refusals(404, 413, 415, 422),
  },
  async handle({ caller, params, body }, { app }) {
    const { runId } = await requireRun(app, caller, params['runId'] ?? '')
    if (!app.replay) return refusal('route/missing', 'This app cannot replay runs')
    // The app parses the changes as strictly as an envelope.
    const replayed = await app.replay(runId, (body ?? {}) as never)
    // Sentences about events may quote values.
    return { status: 200, body: app.redactor.value(replayed) as Json }
  },
}
