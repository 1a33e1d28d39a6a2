/** `POST run.stream`: starts a run and streams its events. Below is what all routes that start runs share. */

import { closest } from '../../base/closest.ts'
import { ProvisoError } from '../../base/errors/error.ts'
import type { Issue } from '../../base/errors/issue.ts'
import { isObject, type Json, own } from '../../base/json.ts'
import { child } from '../../base/pointer.ts'
import { parseTraceparent } from '../../domain/ports/trace.ts'
import { closed, map, text } from '../../domain/schemas/parts.ts'
import type { JsonSchema } from '../../schema/json-schema.ts'
import { refusal } from '../problem.ts'
import type { Call, Route } from '../route.ts'
import type { ServedApp } from '../served.ts'
import {
  api,
  eventStream,
  includesPartials,
  partialsQuery,
  refusals,
  requireRun,
  signature,
} from './parts.ts'

/** The parsers of envelopes and drafts report issues inside them, with better messages than this schema. */
export const startBody: JsonSchema = {
  type: 'object',
  description:
    'An envelope; or an object with an envelope, and optionally a draft, threadId, whenBusy and correlationId',
  if: { required: ['envelope'] },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: closed(
    {
      envelope: map,
      draft: map,
      threadId: text,
      whenBusy: { enum: ['queue', 'interrupt', 'reject'] },
      correlationId: text,
    },
    ['envelope'],
  ),
}

export const runStream: Route = {
  method: 'POST',
  path: `${api}/run.stream`,
  operation: 'runStream',
  summary: 'Start a run and stream its events',
  roles: ['caller', 'operator'],
  query: closed({ partials: partialsQuery }),
  body: startBody,
  replies: { 200: eventStream, ...refusals(404, 409, 413, 415, 422) },
  idempotent: true,
  startsRun: true,
  async handle(call, { app }) {
    const start = readStart(call.body)
    const resumed = readConstraint(start, 'resumeRunId')
    if (resumed !== undefined) return resumeByEnvelope(app, call, { runId: resumed, start })
    const { runId } = await startRun(app, call, start)
    return {
      stream: 'events',
      runId,
      after: 0,
      until: 'waits',
      partials: includesPartials(call),
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
  if (head.status === 'awaiting_human' || head.status === 'quarantined') {
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
    partials: includesPartials(call),
    headers: {
      'proviso-run-id': runId,
      deprecation: 'true',
      warning: '299 - "constraints.resumeRunId is deprecated: use run.resume, or runs/:id/events"',
    },
  } as const
}

/** A request body as it is read: an envelope, or an object with an envelope, a draft and ids. */
interface Start {
  readonly envelope: { readonly [key: string]: Json }
  readonly draft?: Json
  readonly threadId?: string
  readonly whenBusy?: 'queue' | 'interrupt' | 'reject'
  readonly correlationId?: string
}

/** Reads a body that is valid against `startBody`. */
export function readStart(body: Json): Start {
  const given = body as { readonly [key: string]: Json }
  assertNotMisspelled(given)
  const whole = own(given, 'envelope') === undefined ? { envelope: given } : given
  const start = whole as unknown as Start
  const threadId = start.threadId ?? readConstraint(start, 'threadId')
  return { ...start, ...(threadId !== undefined && { threadId }) }
}

/** Throws if the key `envelope` is misspelled: otherwise, a body without it is read as an envelope. */
function assertNotMisspelled(body: { readonly [key: string]: Json }): void {
  if (Object.hasOwn(body, 'envelope')) return
  const key = Object.keys(body).find((name) => closest(name, ['envelope']) !== undefined)
  if (key === undefined) return
  const message = `the body: the property ${JSON.stringify(key)} is not allowed`
  const hint = 'Did you mean "envelope"?'
  const issue = { code: 'schema/additionalProperties', at: { pointer: child('', key) }, message, hint }
  throw new ProvisoError('envelope/invalid', `Cannot read the request: ${message}`, { hint, issues: [issue] })
}

/** Reads a value that may be set in the envelope's constraints. */
export function readConstraint({ envelope }: Start, name: string): string | undefined {
  const constraints = own(envelope, 'constraints')
  const value = isObject(constraints) ? own(constraints, name) : undefined
  return typeof value === 'string' ? value : undefined
}

interface Started {
  readonly runId: string
  /** Deprecations in the envelope. */
  readonly warnings: readonly Issue[]
}

/** Starts the run. With an `Idempotency-Key` the id is derived from the key, so a retry finds the run. */
export async function startRun(app: ServedApp, call: Call, { envelope, ...rest }: Start): Promise<Started> {
  const { tenant } = call.caller
  const traceparent = call.headers['traceparent']
  const runId = call.onceId === undefined ? undefined : `flex_${call.onceId.slice(0, 32)}`
  const { warnings, start } = app.prepare(envelope, {
    ...rest,
    tenant,
    by: signature(call.caller),
    ...(runId !== undefined && { runId }),
    ...(includesPartials(call) && { partials: true }),
    ...(parseTraceparent(traceparent) && { traceparent: traceparent as string }),
  })
  try {
    const id = await start()
    call.onAccepted()
    return { runId: id, warnings }
  } catch (cause) {
    const begun = runId !== undefined && cause instanceof ProvisoError && cause.code === 'run/exists'
    if (begun && (await app.store.head(runId))?.tenant === tenant) return { runId, warnings }
    throw cause
  }
}
