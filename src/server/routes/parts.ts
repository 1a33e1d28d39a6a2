/** Schemas and helpers that routes share. */

import { ProvisoError } from '../../base/errors/error.ts'
import type { Json } from '../../base/json.ts'
import type { RunHead } from '../../domain/run.ts'
import { closed, text } from '../../domain/schemas/parts.ts'
import { runStatuses } from '../../domain/status.ts'
import type { TaskPerson } from '../../domain/task/assignment.ts'
import type { JsonSchema } from '../../schema/json-schema.ts'
import { verifiedPrefix } from '../auth/authenticate.ts'
import { problemSchema } from '../problem.ts'
import type { Call, Caller, ReplyShape } from '../route.ts'
import type { ServedApp } from '../served.ts'

export const api = '/api/v1/flex'

export const runParams = closed({ runId: text }, ['runId'])

/** Schema of one feedback entry: what people and checks said about earlier work. */
export const feedbackSchema = {
  type: 'object',
  required: ['source'],
  properties: {
    source: { enum: ['reply', 'validation', 'goal', 'plan'] },
    nodes: { type: 'array', items: text },
    requestId: text,
    decision: { type: 'string' },
    note: { type: 'string' },
    value: true,
    /** Whether `value` is the beginning of a longer JSON text. */
    cut: { const: true },
    issues: { type: 'array', items: { type: 'object' } },
    by: { type: 'string' },
    planVersion: { type: 'integer' },
  },
} as const

const descriptions: { readonly [status: number]: string } = {
  400: 'Cannot read the request',
  401: 'Missing or invalid token',
  403: 'Forbidden for the role of the token',
  404: 'Not found',
  409: 'Conflicts with the current status of the run',
  413: 'The body is too large',
  415: 'The body is not JSON',
  422: 'The body does not match the schema, or an Idempotency-Key was used with another request',
  429: 'Too many requests or active runs; retry after the seconds in Retry-After',
  500: 'Internal error; the server log has the cause under the traceId',
  503: 'The server is stopping, is at capacity, or its store does not respond; retry after the seconds in Retry-After',
}

/** Declares the error replies of a route, in addition to the errors that every route can return. */
export function refusals(...statuses: readonly number[]): { readonly [status: number]: ReplyShape } {
  const all = [400, 401, 403, 429, 500, 503, ...statuses]
  return Object.fromEntries(
    all.map((status) => [status, { description: descriptions[status] ?? '', schema: problemSchema }]),
  )
}

export function ok(description: string, schema: JsonSchema): ReplyShape {
  return { description, schema }
}

/** The reply of `run.stream` and `run.resume`. */
export const eventStream: ReplyShape = {
  description: 'The events of the run as frames; ends when the run is over or waits for a person',
  type: 'text/event-stream',
}

/** `?partials=1` of routes that stream events. */
export const partialsQuery = { type: 'integer', minimum: 0, maximum: 1 } as const

export function includesPartials({ query }: Pick<Call, 'query'>): boolean {
  return query['partials'] === 1
}

/** Returns a run of the caller's tenant; runs of other tenants are not found. */
export async function requireRun(app: ServedApp, { tenant }: Caller, runId: string): Promise<RunHead> {
  const head = await app.store.head(runId)
  if (head === undefined || head.tenant !== tenant)
    throw new ProvisoError('run/missing', `Run "${runId}" not found`, {
      hint: `List runs with GET ${api}/runs`,
    })
  return head
}

/** How the journal and the audit name the caller. */
export function signature({ name, tokenId }: Caller): string {
  const isNamed = name === tokenId || tokenId === 'development' || tokenId.startsWith(verifiedPrefix)
  return isNamed ? name : `${name} (${tokenId})`
}

/** Who acts on an ask or a task, and with which rights. */
export function toPerson(caller: Caller): Required<TaskPerson> {
  return { by: signature(caller), taskRoles: caller.taskRoles ?? [], isAdmin: caller.role === 'admin' }
}

export const runSchema = {
  type: 'object',
  required: ['runId', 'status', 'planVersion', 'events', 'createdAt', 'updatedAt', 'objective'],
  properties: {
    runId: text,
    status: { enum: runStatuses },
    planVersion: { type: 'integer' },
    /** Sequence number of the last event. */
    events: { type: 'integer' },
    createdAt: { type: 'string', format: 'date-time' },
    updatedAt: { type: 'string', format: 'date-time' },
    objective: { type: 'string' },
    pipeline: { type: 'string' },
    schemaHash: { type: 'string' },
    correlationId: { type: 'string' },
    threadId: { type: 'string' },
    satisfactionScore: { type: 'number' },
    observedSatisfaction: { type: 'number' },
    /** So far; absent while zero or unknown. */
    costUsd: { type: 'number' },
    tokens: { type: 'integer' },
  },
} as const

/** Returns the public fields of a run, redacted: without tenant and internal fields. */
export function runView(head: RunHead, { redactor }: ServedApp): { readonly [key: string]: Json } {
  const { tenant: _tenant, wakeAt: _wakeAt, seq, createdAt, updatedAt, ...rest } = head
  const view = { ...rest, events: seq, createdAt: iso(createdAt), updatedAt: iso(updatedAt) }
  // The redactor preserves the shape.
  return redactor.value(view) as { [key: string]: Json }
}

export function iso(at: number): string {
  return new Date(at).toISOString()
}
