/** `POST run.stream`: begins a run and streams it. */
import { ProvisoError } from '../../base/error.ts'
import { refusal } from '../problem.ts'
import type { Call, Route } from '../route.ts'
import type { ServedApp } from '../served.ts'
import { api, eventStream, refusals, requireRun, signature } from './parts.ts'
import { constraintOf, readStart, type Start, startBody, startRun } from './start-run.ts'

export const runStream: Route = {
  method: 'POST',
  path: `${api}/run.stream`,
  operation: 'runStream',
  summary: 'Begin a run and stream its events',
  roles: ['caller', 'operator'],
  body: startBody,
  replies: { 200: eventStream, ...refusals(404, 409, 413, 415, 422) },
  idempotent: true,
  startsRun: true,
  async handle(call, { app }) {
    const start = readStart(call.body)
    const resumed = constraintOf(start, 'resumeRunId')
    if (resumed !== undefined) return resumeByEnvelope(app, call, { runId: resumed, start })
    const runId = await startRun(app, call, start)
    return {
      stream: 'events',
      runId,
      after: 0,
      until: 'waits',
      headers: { 'proviso-run-id': runId },
      // A run without a name of the caller's for what belongs together has its own.
      ...(start.correlationId === undefined && { correlationId: runId }),
    }
  },
}

/**
 * The older way: a new stream with `constraints.resumeRunId`. Replies resume runs by themselves now, so there is mostly
 * nothing to do but to stream; a pause is lifted only by those who may lift one.
 */
async function resumeByEnvelope(
  app: ServedApp,
  call: Call,
  { runId, start }: { readonly runId: string; readonly start: Start },
) {
  const head = await requireRun(app, call.caller, runId)
  if (head.threadId !== start.threadId)
    throw new ProvisoError('run/state', `The run "${runId}" belongs to another thread`, {
      hint: 'Send the threadId that the run was begun with',
    })
  if (head.status === 'awaiting_hitl' || head.status === 'failed' || head.status === 'cancelled')
    throw new ProvisoError('run/state', `The run "${runId}" cannot be resumed: it is ${head.status}`, {
      hint: head.status === 'awaiting_hitl' ? 'Resolve its ask first' : 'Begin a new run',
    })
  if (head.status === 'awaiting_human') {
    if (call.caller.role === 'caller')
      return refusal('auth/forbidden', 'A pause is lifted by an operator', {
        hint: 'Use run.resume with such a token',
      })
    await app.resume(runId, { by: signature(call.caller), expectedPlanVersion: head.planVersion })
  }
  return {
    stream: 'events',
    runId,
    after: 0,
    until: 'waits',
    headers: {
      'proviso-run-id': runId,
      deprecation: 'true',
      warning: '299 - "constraints.resumeRunId is deprecated: use run.resume, or runs/:id/events"',
    },
  } as const
}
