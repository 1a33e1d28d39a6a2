/** `GET runs/:id/output`: the answer of a run as its contract asks for it, with its secrets. All other pages redact it. */
import { ProvisoError } from '../../base/errors/error.ts'
import { text } from '../../domain/schemas/parts.ts'
import { isTerminal } from '../../domain/status.ts'
import type { Route } from '../route.ts'
import { api, ok, refusals, requireRun, runParams } from './parts.ts'

export const showOutput: Route = {
  method: 'GET',
  path: `${api}/runs/:runId/output`,
  operation: 'showOutput',
  summary: 'Get the answer of a completed run, secrets included',
  roles: ['caller', 'operator'],
  params: runParams,
  replies: {
    200: ok('The answer', {
      type: 'object',
      required: ['runId', 'status', 'output'],
      properties: { runId: text, status: { const: 'completed' }, output: true },
    }),
    ...refusals(404, 409),
  },
  async handle({ caller, params }, { app }) {
    const { runId, status } = await requireRun(app, caller, params['runId'] ?? '')
    const row = await app.store.output(runId)
    if (status !== 'completed' || row?.output === undefined)
      throw new ProvisoError('run/state', `Run "${runId}" has no answer: it is ${status}`, {
        hint: isTerminal(status)
          ? `Read why with GET ${api}/runs/${runId}`
          : `Follow it with GET ${api}/runs/${runId}/events`,
      })
    return { status: 200, body: { runId, status, output: row.output } }
  },
}
