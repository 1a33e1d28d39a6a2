/** Runs as a resource: begin, list, cancel, and fire a policy by hand. */
import { isObject, type Json, own } from '../../base/json.ts'
import { parseEnvelope } from '../../domain/parse-envelope.ts'
import { errorSchema } from '../../domain/schemas/error-schema.ts'
import { anyText, closed, text } from '../../domain/schemas/parts.ts'
import type { RunStatus } from '../../domain/status.ts'
import { type Refusal, refusal } from '../problem.ts'
import type { Answer, Call, Route } from '../route.ts'
import { isTerminal } from '../run-end.ts'
import type { ServedApp } from '../served.ts'
import { api, ok, refusals, requireRun, runParams, runSchema, runView, signature, statuses } from './parts.ts'
import { constraintOf, readStart, startBody, startRun } from './start-run.ts'

/** The longest that `?wait=` may ask for, in seconds. */
const longestWait = 60

const begunSchema = {
  type: 'object',
  required: ['runId', 'status', 'location', 'warnings'],
  properties: {
    runId: text,
    status: { enum: statuses },
    location: { type: 'string' },
    /** What was said in an older way. */
    warnings: { type: 'array', items: { type: 'object' } },
    output: true,
    openAsks: { type: 'array', items: text },
    /** Why there is no answer. */
    error: errorSchema,
  },
} as const

export const createRun: Route = {
  method: 'POST',
  path: `${api}/runs`,
  operation: 'createRun',
  summary: 'Begin a run; with ?wait=SECONDS, answer when it is over or waits for a person',
  roles: ['caller', 'operator'],
  query: closed({ wait: { type: 'integer', minimum: 0, maximum: longestWait } }),
  body: startBody,
  replies: {
    200: ok('The run is over, or waits for a person', begunSchema),
    202: ok('The run has begun', begunSchema),
    ...refusals(413, 415, 422),
  },
  idempotent: true,
  startsRun: true,
  async handle(call, { app }) {
    const start = readStart(call.body)
    if (constraintOf(start, 'resumeRunId') !== undefined) return notToBeResumed(call.body)
    const runId = await startRun(app, call, start)
    const location = `${api}/runs/${runId}`
    const { warnings } = parseEnvelope(start.envelope)
    const begun = { runId, location, warnings: warnings as unknown as Json }
    const headers = { location }
    const settled = await settledWithin(app, runId, call)
    if (settled === undefined) return { status: 202, headers, body: { ...begun, status: 'running' } }
    return { status: 200, headers, body: { ...begun, ...settled } }
  },
}

/** It asks for a run that is there, and would silently have got a second one. */
function notToBeResumed(body: Json): Refusal {
  const message = 'constraints.resumeRunId names a run that is there; this route begins a new one'
  const hint = `Send it to ${api}/run.stream, look with GET ${api}/runs/:runId, or leave it out to begin a run`
  const inside = isObject(body) && own(body, 'envelope') !== undefined ? '/envelope' : ''
  const at = { pointer: `${inside}/constraints/resumeRunId` }
  return refusal('request/invalid', message, {
    hint,
    issues: [{ code: 'request/resume', at, message, hint }],
  })
}

/** How the run stands when it needs nobody to wait any longer; `undefined` when the time is over first. */
async function settledWithin(
  app: ServedApp,
  runId: string,
  { query, signal }: Call,
): Promise<{ readonly [key: string]: Json } | undefined> {
  const wait = Number(query['wait'] ?? 0)
  if (wait === 0) return undefined
  const enough = AbortSignal.any([signal, AbortSignal.timeout(wait * 1000)])
  try {
    const { status, output, openAsks, error } = await app.result(runId, enough)
    return {
      status,
      openAsks,
      ...(output !== undefined && { output }),
      // The redactor keeps the shape.
      ...(error && { error: app.redactor.value(error) as Json }),
    }
  } catch (cause) {
    if (enough.aborted) return undefined
    throw cause
  }
}

export const listRuns: Route = {
  method: 'GET',
  path: `${api}/runs`,
  operation: 'listRuns',
  summary: 'List runs, the newest first',
  roles: ['caller', 'operator'],
  query: closed({
    status: { type: 'array', items: { enum: statuses } },
    threadId: text,
    limit: { type: 'integer', minimum: 1, maximum: 100 },
    before: text,
  }),
  replies: {
    200: ok('A page of runs; ask for what comes after it with before=next', {
      type: 'object',
      required: ['runs'],
      properties: { runs: { type: 'array', items: runSchema }, next: text },
    }),
    ...refusals(404),
  },
  async handle({ caller, query }, { app }) {
    // The route's schema has said so.
    const { status, threadId, limit = 20, before } = query as unknown as ListQuery
    if (before !== undefined) await requireRun(app, caller, before)
    const found = await app.store.runs({
      tenant: caller.tenant,
      limit: limit + 1,
      ...(status && { status }),
      ...(threadId !== undefined && { threadId }),
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
  readonly limit?: number
  readonly before?: string
}

const stands = {
  type: 'object',
  required: ['ok', 'runId', 'status'],
  properties: { ok: { const: true }, runId: text, status: { enum: statuses } },
} as const

export const cancelRun: Route = {
  method: 'POST',
  path: `${api}/runs/:runId/cancel`,
  operation: 'cancelRun',
  summary: 'Ask a run to end; one that is over stays as it is',
  roles: ['caller', 'operator'],
  params: runParams,
  body: { anyOf: [{ type: 'null' }, closed({ reason: anyText })] },
  replies: {
    200: ok('The run was over before', stands),
    202: ok('The run is going to end', stands),
    ...refusals(404, 413, 415, 422),
  },
  idempotent: true,
  async handle({ caller, params, body }, { app }) {
    const { runId, status } = await requireRun(app, caller, params['runId'] ?? '')
    if (isTerminal(status)) return { status: 200, body: { ok: true, runId, status } }
    const reason = (body as { readonly reason?: string } | null)?.reason
    await app.cancel(runId, { by: signature(caller), ...(reason !== undefined && { reason }) })
    return accepted(app, runId)
  },
}

export const triggerPolicy: Route = {
  method: 'POST',
  path: `${api}/runs/:runId/policies/:policyId/trigger`,
  operation: 'triggerPolicy',
  summary: 'Fire a policy whose trigger is manual',
  roles: ['operator'],
  params: closed({ runId: text, policyId: text }, ['runId', 'policyId']),
  body: { anyOf: [{ type: 'null' }, closed({})] },
  replies: { 202: ok('The policy acts', stands), ...refusals(404, 409, 413, 415, 422) },
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
