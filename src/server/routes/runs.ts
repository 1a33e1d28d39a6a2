/** Routes for runs: start, list, cancel, and trigger a policy manually. */

import { isObject, type Json, own } from '../../base/json.ts'
import { errorSchema } from '../../domain/errors/error-envelope.ts'
import { anyText, closed, text } from '../../domain/schemas/parts.ts'
import type { RunStatus, WaitingStatus } from '../../domain/status.ts'
import { isTerminal, runStatuses } from '../../domain/status.ts'
import { type Refusal, refusal } from '../problem.ts'
import type { Answer, Call, Route } from '../route.ts'
import type { ServedApp } from '../served.ts'
import {
  api,
  ok,
  partialsQuery,
  refusals,
  requireRun,
  runParams,
  runSchema,
  runView,
  signature,
} from './parts.ts'
import { readConstraint, readStart, startBody, startRun } from './run-stream.ts'

/** Maximum of `?wait=`, in seconds. */
const longestWait = 60

const begunSchema = {
  type: 'object',
  required: ['runId', 'status', 'location', 'warnings'],
  properties: {
    runId: text,
    status: { enum: runStatuses },
    location: { type: 'string' },
    /** Deprecations in the request; once there is a plan, also the warnings of its proof. */
    warnings: { type: 'array', items: { type: 'object' } },
    output: true,
    openAsks: { type: 'array', items: text },
    /** Why there is no output. */
    error: errorSchema,
  },
} as const

export const createRun: Route = {
  method: 'POST',
  path: `${api}/runs`,
  operation: 'createRun',
  summary: 'Start a run; with ?wait=SECONDS, respond when it is over or waits for a person',
  roles: ['caller', 'operator'],
  query: closed({ wait: { type: 'integer', minimum: 0, maximum: longestWait }, partials: partialsQuery }),
  body: startBody,
  replies: {
    200: ok('The run is over, or waits for a person', begunSchema),
    202: ok('The run has started; one that is `pending` waits for the runs of its thread', begunSchema),
    ...refusals(409, 413, 415, 422),
  },
  idempotent: true,
  startsRun: true,
  async handle(call, { app }) {
    const start = readStart(call.body)
    if (readConstraint(start, 'resumeRunId') !== undefined) return refuseResume(call.body)
    const { runId, warnings } = await startRun(app, call, start)
    const location = `${api}/runs/${runId}`
    const begun = { runId, location }
    const headers = { location }
    const settled = await waitForResult(app, runId, call)
    if (settled === undefined) {
      const isQueued = start.threadId !== undefined && (await app.store.head(runId))?.seq === 0
      const status = isQueued ? 'pending' : 'running'
      const body = { ...begun, status, warnings: warnings as unknown as Json }
      return { status: 202, headers, body }
    }
    const { ofPlan, ...result } = settled
    const all = [...warnings, ...ofPlan] as unknown as Json
    return { status: 200, headers, body: { ...begun, ...result, warnings: all } }
  },
}

/** Refuses requests to resume, which would silently start a second run here. */
function refuseResume(body: Json): Refusal {
  const message = 'constraints.resumeRunId names an existing run; this route starts a new one'
  const hint = `Send it to ${api}/run.stream, read it with GET ${api}/runs/:runId, or omit it to start a run`
  const inside = isObject(body) && own(body, 'envelope') !== undefined ? '/envelope' : ''
  const at = { pointer: `${inside}/constraints/resumeRunId` }
  return refusal('request/invalid', message, {
    hint,
    issues: [{ code: 'request/resume', at, message, hint }],
  })
}

/** Returns the result of the run if it ends or waits within the time, else `undefined`. */
async function waitForResult(
  app: ServedApp,
  runId: string,
  { query, signal }: Call,
): Promise<{ readonly [key: string]: Json; readonly ofPlan: readonly Json[] } | undefined> {
  const wait = Number(query['wait'] ?? 0)
  if (wait === 0) return undefined
  const enough = AbortSignal.any([signal, AbortSignal.timeout(wait * 1000)])
  try {
    const { status, paused, output, openAsks, error, warnings } = await app.result(runId, enough)
    return {
      status: status === 'waiting' ? toWaitingStatus(paused) : status,
      openAsks,
      ofPlan: (warnings ?? []) as unknown as readonly Json[],
      ...(output !== undefined && { output }),
      // The redactor preserves the shape.
      ...(error && { error: app.redactor.value(error) as Json }),
    }
  } catch (cause) {
    if (enough.aborted) return undefined
    throw cause
  }
}

/** The name that a status of waiting has in the API. */
function toWaitingStatus(paused: { readonly quarantined: boolean } | undefined): WaitingStatus {
  if (paused === undefined) return 'awaiting_hitl'
  return paused.quarantined ? 'quarantined' : 'awaiting_human'
}

export const listRuns: Route = {
  method: 'GET',
  path: `${api}/runs`,
  operation: 'listRuns',
  summary: 'List runs, newest first; with sort=cost, the most expensive first',
  roles: ['caller', 'operator'],
  query: closed({
    status: { type: 'array', items: { enum: runStatuses } },
    threadId: text,
    search: { ...text, maxLength: 200 },
    minCostUsd: { type: 'number', minimum: 0 },
    maxCostUsd: { type: 'number', minimum: 0 },
    nodeId: { ...text, maxLength: 200 },
    model: { ...text, maxLength: 200 },
    sort: { enum: ['created', 'cost'] },
    limit: { type: 'integer', minimum: 1, maximum: 100 },
    before: text,
  }),
  replies: {
    200: ok('A page of runs; pass next as before for the next page', {
      type: 'object',
      required: ['runs'],
      properties: { runs: { type: 'array', items: runSchema }, next: text },
    }),
    ...refusals(404),
  },
  async handle({ caller, query }, { app }) {
    // Validated by the route's schema.
    const { limit = 20, before, ...filters } = query as unknown as ListQuery
    if (before !== undefined) await requireRun(app, caller, before)
    const found = await app.store.runs({
      tenant: caller.tenant,
      limit: limit + 1,
      ...filters,
      ...(before !== undefined && { before }),
    })
    const page = found.slice(0, limit)
    const next = found.length > limit ? page.at(-1)?.runId : undefined
    return {
      status: 200,
      body: { runs: page.map((head) => runView(head, app)), ...(next !== undefined && { next }) },
    }
  },
}

interface ListQuery {
  readonly status?: readonly RunStatus[]
  readonly threadId?: string
  readonly search?: string
  readonly minCostUsd?: number
  readonly maxCostUsd?: number
  readonly nodeId?: string
  readonly model?: string
  readonly sort?: 'created' | 'cost'
  readonly limit?: number
  readonly before?: string
}

const statusBody = {
  type: 'object',
  required: ['ok', 'runId', 'status'],
  properties: { ok: { const: true }, runId: text, status: { enum: runStatuses } },
} as const

export const cancelRun: Route = {
  method: 'POST',
  path: `${api}/runs/:runId/cancel`,
  operation: 'cancelRun',
  isControl: true,
  summary: 'Cancel a run; a finished run does not change',
  roles: ['caller', 'operator'],
  params: runParams,
  body: { anyOf: [{ type: 'null' }, closed({ reason: anyText })] },
  replies: {
    200: ok('The run was over, or had not started', statusBody),
    202: ok('The run is being cancelled', statusBody),
    ...refusals(404, 413, 415, 422),
  },
  idempotent: true,
  async handle({ caller, params, body }, { app }) {
    const { runId, status } = await requireRun(app, caller, params['runId'] ?? '')
    if (isTerminal(status)) return { status: 200, body: { ok: true, runId, status } }
    const reason = (body as { readonly reason?: string } | null)?.reason
    await app.cancel(runId, { by: signature(caller), ...(reason !== undefined && { reason }) })
    // A run of a thread that had not started leaves nothing.
    const isGone = (await app.store.head(runId)) === undefined
    return isGone ? { status: 200, body: { ok: true, runId, status: 'cancelled' } } : accepted(app, runId)
  },
}

export const triggerPolicy: Route = {
  method: 'POST',
  path: `${api}/runs/:runId/policies/:policyId/trigger`,
  operation: 'triggerPolicy',
  summary: 'Trigger a policy that has a manual trigger',
  roles: ['operator'],
  params: closed({ runId: text, policyId: text }, ['runId', 'policyId']),
  body: { anyOf: [{ type: 'null' }, closed({})] },
  replies: { 202: ok('The policy is triggered', statusBody), ...refusals(404, 409, 413, 415, 422) },
  idempotent: true,
  async handle({ caller, params }, { app }) {
    const { runId } = await requireRun(app, caller, params['runId'] ?? '')
    await app.trigger(runId, { policyId: params['policyId'] ?? '', by: signature(caller) })
    return accepted(app, runId)
  },
}

async function accepted(app: ServedApp, runId: string): Promise<Answer> {
  const status = (await app.store.head(runId))?.status ?? 'running'
  return { status: 202, body: { ok: true, runId, status } }
}
