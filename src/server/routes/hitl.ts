/** Human-in-the-loop routes: the inbox of open asks, and resolving them. */

import { ProvisoError } from '../../base/errors/error.ts'
import type { Json } from '../../base/json.ts'
import type { Reply } from '../../domain/ask.ts'
import type { AskRow } from '../../domain/ports/store.ts'
import { closed, text } from '../../domain/schemas/parts.ts'
import { grantSchema, rejectActionSchema } from '../../domain/schemas/policy-schema.ts'
import { raoDecisionSchema } from '../../domain/schemas/rao-schema.ts'
import { replySchema } from '../../domain/schemas/reply-schema.ts'
import { runStatuses } from '../../domain/status.ts'
import type { Caller, Route } from '../route.ts'
import type { ServedApp } from '../served.ts'
import { api, feedbackSchema, iso, ok, refusals, requireRun, toPerson } from './parts.ts'

const askSchema = {
  type: 'object',
  required: [
    'requestId',
    'runId',
    'kind',
    'question',
    'value',
    'valueHash',
    'decisions',
    'status',
    'expiresAt',
  ],
  properties: {
    requestId: text,
    runId: text,
    kind: { type: 'string' },
    nodeId: text,
    policyId: text,
    /** Of a side effect or a tool: the capability that approval lets the node call with the value shown. */
    capabilityId: text,
    /** The tool call of an agent that it is about: turn and call count from 1. */
    toolCall: {
      type: 'object',
      required: ['turn', 'call', 'tool'],
      properties: {
        turn: { type: 'integer' },
        call: { type: 'integer' },
        tool: text,
        /** The calls of agents that it is within, outermost first. */
        within: {
          type: 'array',
          items: {
            type: 'object',
            required: ['turn', 'call', 'tool'],
            properties: { turn: { type: 'integer' }, call: { type: 'integer' }, tool: text },
          },
        },
      },
    },
    question: { type: 'string' },
    value: true,
    valueHash: { type: 'string' },
    schema: { type: ['object', 'boolean'] },
    conditions: { type: 'array' },
    issues: { type: 'array', items: { type: 'object' } },
    /** The decision of the RAO contract, if it caused the ask. */
    rao: raoDecisionSchema,
    /** The text that the value was parsed from. */
    raw: { type: 'string' },
    decisions: { type: 'array', items: { type: 'string' } },
    /** What follows a rejection, which alternatives a reply may choose, and which nodes a retry runs again. */
    rejectAction: { type: 'object' },
    rejectActions: { type: 'array', items: rejectActionSchema },
    /** How long an approval may be remembered for the tool. */
    grants: { type: 'array', items: grantSchema },
    producers: { type: 'array', items: text },
    /** Feedback on earlier values. */
    feedback: { type: 'array', items: feedbackSchema },
    status: { enum: ['pending', 'resolved', 'denied'] },
    createdAt: { type: 'string', format: 'date-time' },
    expiresAt: { type: 'string', format: 'date-time' },
    resolvedAt: { type: 'string', format: 'date-time' },
    decision: { type: 'string' },
    by: { type: 'string' },
    note: { type: 'string' },
    /** How many different people must approve, and who has so far. */
    approvers: { type: 'integer' },
    approvedBy: { type: 'array', items: { type: 'string' } },
    /** Of a task: whom it is for, and who holds it. */
    assignment: { type: 'object' },
  },
} as const

export const listAsks: Route = {
  method: 'GET',
  path: `${api}/hitl`,
  operation: 'listAsks',
  summary: 'List asks: requests that wait for a person',
  roles: ['operator'],
  query: closed({
    status: { enum: ['pending', 'resolved', 'denied'] },
    runId: text,
    limit: { type: 'integer', minimum: 1, maximum: 200 },
    after: text,
  }),
  replies: {
    200: ok('A page of asks, oldest first; pass next as after for the next page', {
      type: 'object',
      required: ['asks'],
      properties: { asks: { type: 'array', items: askSchema }, next: text },
    }),
    ...refusals(404),
  },
  async handle({ caller, query }, { app }) {
    // Validated by the route's schema.
    const { status = 'pending', runId, limit = 50, after } = query as unknown as AsksQuery
    if (runId !== undefined) await requireRun(app, caller, runId)
    if (after !== undefined) await requireAsk(app, caller, after)
    const found = await (app.shown ?? app.store).asks({
      tenant: caller.tenant,
      status,
      limit: limit + 1,
      ...(runId !== undefined && { runId }),
      ...(after !== undefined && { after }),
    })
    const page = found.slice(0, limit)
    const next = found.length > limit ? page.at(-1)?.requestId : undefined
    return {
      status: 200,
      body: { asks: page.map((ask) => askView(ask, app)), ...(next !== undefined && { next }) },
    }
  },
}

interface AsksQuery {
  readonly status?: AskRow['status']
  readonly runId?: string
  readonly limit?: number
  readonly after?: string
}

/** Returns an ask of the caller's tenant; asks of other tenants are not found. */
export async function requireAsk(app: ServedApp, { tenant }: Caller, requestId: string): Promise<AskRow> {
  const ask = await app.store.ask(requestId)
  if (ask === undefined || ask.tenant !== tenant)
    throw new ProvisoError('ask/unknown', `Ask "${requestId}" not found`)
  return ask
}

function askView(row: AskRow, { redactor }: ServedApp): Json {
  const { tenant: _, createdAt, expiresAt, resolvedAt, ...ask } = row
  const view = {
    ...ask,
    createdAt: iso(createdAt),
    expiresAt: iso(expiresAt),
    ...(resolvedAt !== undefined && { resolvedAt: iso(resolvedAt) }),
  }
  // The redactor preserves the shape.
  return redactor.value(view) as Json
}

const resolve: Omit<Route, 'path' | 'operation' | 'summary'> = {
  method: 'POST',
  roles: ['operator'],
  body: replySchema,
  replies: {
    200: ok('The decision is recorded and the run continues', {
      type: 'object',
      required: ['ok', 'runId', 'requestId', 'decision', 'status'],
      properties: {
        ok: { const: true },
        runId: text,
        requestId: text,
        decision: { type: 'string' },
        status: { enum: runStatuses },
        /** How many more people must approve; absent if the ask is resolved. */
        missingApprovals: { type: 'integer' },
      },
    }),
    ...refusals(404, 409, 413, 415, 422),
  },
  idempotent: true,
  async handle({ caller, body }, { app }) {
    // Validated by the route's schema.
    const given = body as unknown as Omit<Reply, 'by'>
    const { requestId, decision } = given
    const { runId } = await requireAsk(app, caller, requestId)
    await app.reply(runId, { ...given, ...toPerson(caller) })
    const status = (await app.store.head(runId))?.status ?? 'running'
    const { approvers = 1, approvedBy = [], status: asked } = (await app.store.ask(requestId)) ?? {}
    const missing = asked === 'pending' && { missingApprovals: approvers - approvedBy.length }
    return { status: 200, body: { ok: true, runId, requestId, decision, status, ...missing } }
  },
}

export const resolveAsk: Route = {
  ...resolve,
  path: `${api}/hitl/resolve`,
  operation: 'resolveAsk',
  isControl: true,
  summary:
    'Resolve an ask. The decision is bound to the value that was shown, and only the first decision counts',
}

export const resolveAskOldPath: Route = {
  ...resolve,
  path: '/api/hitl/resume',
  operation: 'resolveAskOldPath',
  isControl: true,
  summary: 'Deprecated path of hitl/resolve',
  deprecated: true,
  async handle(call, served) {
    const answer = await resolve.handle(call, served)
    const link = `<${api}/hitl/resolve>; rel="successor-version"`
    return 'refused' in answer ? answer : { ...answer, headers: { ...answer.headers, link } }
  },
}
