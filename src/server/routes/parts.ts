/** The pieces that routes and their schemas share. */
import { ProvisoError } from '../../base/error.ts'
import type { Json } from '../../base/json.ts'
import type { RunHead } from '../../domain/run.ts'
import { closed, text } from '../../domain/schemas/parts.ts'
import type { JsonSchema } from '../../schema/json-schema.ts'
import { problemSchema } from '../problem.ts'
import type { Caller, ReplyShape } from '../route.ts'
import type { ServedApp } from '../served.ts'

export const api = '/api/v1/flex'

export const runParams = closed({ runId: text }, ['runId'])

/** One entry of what people and checks said about earlier work. */
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
    /** `value` is the beginning of a longer JSON text. */
    cut: { const: true },
    issues: { type: 'array', items: { type: 'object' } },
    by: { type: 'string' },
    planVersion: { type: 'integer' },
  },
} as const

export const statuses = [
  'pending',
  'running',
  'awaiting_hitl',
  'awaiting_human',
  'completed',
  'failed',
  'cancelled',
] as const

const descriptions: { readonly [status: number]: string } = {
  400: 'The request cannot be read',
  401: 'No token, or none that is valid',
  403: 'The role of the token does not allow this',
  404: 'Not there, or another tenant’s',
  409: 'It does not stand so that this could be done',
  413: 'The body is too large',
  415: 'The body is not JSON',
  422: 'The body does not have the form that is asked for, or an Idempotency-Key was used with another one',
  429: 'Too many requests, or too many runs at once; Retry-After says when to try again',
  500: 'Something went wrong here; the traceId finds it in the log',
  503: 'The server stops, is full, or its store does not answer; Retry-After says when to try again',
}

/** The refusals that a route can give, in addition to those that every route has. */
export function refusals(...statuses: readonly number[]): { readonly [status: number]: ReplyShape } {
  const all = [400, 401, 403, 429, 500, 503, ...statuses]
  return Object.fromEntries(
    all.map((status) => [status, { description: descriptions[status] ?? '', schema: problemSchema }]),
  )
}

export function ok(description: string, schema: JsonSchema): ReplyShape {
  return { description, schema }
}

/** What `run.stream` and `run.resume` answer. */
export const eventStream: ReplyShape = {
  description: 'The events of the run, each a frame; ends when the run is over or waits for a person',
  type: 'text/event-stream',
}

/** The run, if it is the caller's tenant's; others' runs are not there. */
export async function requireRun(app: ServedApp, { tenant }: Caller, runId: string): Promise<RunHead> {
  const head = await app.store.head(runId)
  if (head === undefined || head.tenant !== tenant)
    throw new ProvisoError('run/missing', `There is no run "${runId}"`, { hint: 'Check the run id' })
  return head
}

/** How the journal and the audit name whoever calls. */
export function signature({ name, tokenId }: Caller): string {
  return name === tokenId || tokenId === 'development' ? name : `${name} (${tokenId})`
}

export const runSchema = {
  type: 'object',
  required: ['runId', 'status', 'planVersion', 'events', 'createdAt', 'updatedAt', 'objective'],
  properties: {
    runId: text,
    status: { enum: statuses },
    planVersion: { type: 'integer' },
    /** The sequence number of the last one. */
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
  },
} as const

/** A head as it leaves: without tenant and inner clockwork, redacted. */
export function runView(head: RunHead, { redactor }: ServedApp): { readonly [key: string]: Json } {
  const { tenant: _tenant, wakeAt: _wakeAt, seq, createdAt, updatedAt, ...rest } = head
  const view = { ...rest, events: seq, createdAt: iso(createdAt), updatedAt: iso(updatedAt) }
  // The redactor keeps the shape.
  return redactor.value(view) as { [key: string]: Json }
}

export function iso(at: number): string {
  return new Date(at).toISOString()
}
