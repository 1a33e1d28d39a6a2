/** `POST run.stream`: starts a run and streams its events. */
import { ProvisoError } from '../../base/errors/error.ts'
import { refusal } from '../problem.ts'
import type { Call, Route } from '../route.ts'
import type { ServedApp } from '../served.ts'
import { api, eventStream, refusals, requireRun, signature } from './parts.ts'
import { readConstraint, readStart, type Start, startBody, startRun } from './start-run.ts'

export const runStream: Route = {
  method: 'POST',
  path: `${api}/run.stream`,
  operation: 'runStream',
  summary: 'Start a run and stream its events',
  roles: ['caller', 'operator'],
  body: startBody,
  replies: { 200: eventStream, ...refusals(404, 409, 413, 415, 422) },
  idempotent: true,
  startsRun: true,
  async handle(call, { app }) {
    const start = readStart(call.body)
    const resumed = readConstraint(start, 'resumeRunId')
    if (resumed !== undefined) return resumeByEnvelope(app, call, { runId: resumed, start })
    const runId = await startRun(app, call, start)
    return {
      stream: 'events',
      runId,
      after: 0,
      until: 'waits',
      headers: { 'proviso-run-id': runId },
      // The run id is the default correlation id.
      ...(start.correlationId === undefined && { correlationId: runId }),
    }
  },
}

/**
 * Handles the deprecated `constraints.resumeRunId`. Replies now resume runs by themselves, so it usually only streams; a
 * pause is lifted only if the caller's role allows it.
 */
async function resumeByEnvelope(
  app: ServedApp,
  call: Call,
  { runId, start }: { readonly runId: string; readonly start: Start },
) {
  const head = await requireRun(app, call.caller, runId)
  if (head.threadId !== start.threadId)
    throw new ProvisoError('run/state', `Cannot resume run "${runId}": it belongs to another thread`, {
      hint: 'Send the threadId that the run was started with',
    })
  if (head.status === 'awaiting_hitl' || head.status === 'failed' || head.status === 'cancelled')
    throw new ProvisoError('run/state', `Cannot resume run "${runId}": it is ${head.status}`, {
      hint: head.status === 'awaiting_hitl' ? 'Resolve its ask first' : 'Start a new run',
    })
  if (head.status === 'awaiting_human') {
    if (call.caller.role === 'caller')
      return refusal('auth/forbidden', 'Only an operator can resume a paused run', {
        hint: 'Use run.resume with an operator token',
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
