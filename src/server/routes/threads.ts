/** Routes for threads: list them, read one, add a message and start its run. */
import { isObject, type Json } from '../../base/json.ts'
import { closed, map, text } from '../../domain/schemas/parts.ts'
import { runStatuses } from '../../domain/status.ts'
import { refusal } from '../problem.ts'
import type { Route } from '../route.ts'
import { api, includesPartials, iso, ok, partialsQuery, refusals, signature } from './parts.ts'

const time = { type: 'string', format: 'date-time' } as const
const threadParams = closed({ threadId: { ...text, maxLength: 200 } }, ['threadId'])

const threadSchema = {
  type: 'object',
  required: ['threadId', 'runs', 'createdAt', 'updatedAt'],
  properties: { threadId: text, runs: { type: 'integer' }, createdAt: time, updatedAt: time },
} as const

export const listThreads: Route = {
  method: 'GET',
  path: `${api}/threads`,
  operation: 'listThreads',
  summary: 'List threads, last changed first',
  roles: ['caller', 'operator'],
  query: closed({ limit: { type: 'integer', minimum: 1, maximum: 100 }, before: text }),
  replies: {
    200: ok('A page of threads; pass next as before for the next page', {
      type: 'object',
      required: ['threads'],
      properties: { threads: { type: 'array', items: threadSchema }, next: text },
    }),
    ...refusals(422),
  },
  async handle({ caller, query }, { app }) {
    const limit = Number(query['limit'] ?? 20)
    const before = query['before'] === undefined ? undefined : readCursor(String(query['before']))
    if (before === null)
      return refusal('request/invalid', 'The query is invalid: before must be a cursor', {
        hint: 'Pass `next` of the page before',
      })
    const found = await app.threads.list({
      tenant: caller.tenant,
      limit: limit + 1,
      ...(before && { before }),
    })
    const page = found.slice(0, limit)
    const last = found.length > limit ? page.at(-1) : undefined
    return {
      status: 200,
      body: {
        threads: page.map(({ createdAt, updatedAt, ...rest }) => ({
          ...rest,
          createdAt: iso(createdAt),
          updatedAt: iso(updatedAt),
        })),
        ...(last && { next: `${last.updatedAt}.${last.threadId}` }),
      },
    }
  },
}

function readCursor(cursor: string): { updatedAt: number; threadId: string } | null {
  const [, at, threadId] = /^(\d{1,15})\.(.+)$/s.exec(cursor) ?? []
  return at === undefined || threadId === undefined ? null : { updatedAt: Number(at), threadId }
}

const turnSchema = {
  type: 'object',
  required: ['runId', 'status', 'message', 'createdAt', 'updatedAt'],
  properties: {
    runId: text,
    status: { enum: runStatuses },
    message: { type: 'string' },
    output: true,
    /** Why there is no output. */
    error: { type: 'string' },
    asks: {
      type: 'array',
      items: {
        type: 'object',
        required: ['question'],
        properties: {
          question: { type: 'string' },
          decision: { type: 'string' },
          value: true,
          note: { type: 'string' },
        },
      },
    },
    createdAt: time,
    updatedAt: time,
  },
} as const

export const showThread: Route = {
  method: 'GET',
  path: `${api}/threads/:threadId`,
  operation: 'showThread',
  summary: 'Show a thread: its runs with messages, answers and asks, and the messages that wait',
  roles: ['caller', 'operator'],
  params: threadParams,
  replies: {
    200: ok('The thread, oldest run first', {
      type: 'object',
      required: ['threadId', 'turns', 'queued'],
      properties: {
        threadId: text,
        turns: { type: 'array', items: turnSchema },
        queued: {
          type: 'array',
          items: {
            type: 'object',
            required: ['runId', 'message', 'createdAt'],
            properties: { runId: text, message: { type: 'string' }, createdAt: time },
          },
        },
      },
    }),
    ...refusals(404),
  },
  async handle({ caller, params }, { app }) {
    const threadId = params['threadId'] ?? ''
    const thread = await app.threads.get({ tenant: caller.tenant, threadId })
    if (thread === undefined)
      return refusal('thread/missing', `Thread "${threadId}" not found`, {
        hint: `List threads with GET ${api}/threads`,
      })
    const view = {
      threadId,
      turns: thread.turns.map(({ createdAt, updatedAt, ...turn }) => ({
        ...turn,
        createdAt: iso(createdAt),
        updatedAt: iso(updatedAt),
      })),
      queued: thread.queued.map(({ createdAt, ...rest }) => ({ ...rest, createdAt: iso(createdAt) })),
    }
    // The redactor preserves the shape.
    return { status: 200, body: app.redactor.value(view) as Json }
  },
}

export const addMessage: Route = {
  method: 'POST',
  path: `${api}/threads/:threadId/messages`,
  operation: 'addMessage',
  summary: 'Add a message to a thread and start its run, or queue it while another one is not over',
  roles: ['caller', 'operator'],
  params: threadParams,
  query: closed({ partials: partialsQuery }),
  body: closed(
    { message: text, envelope: map, draft: map, whenBusy: { enum: ['queue', 'interrupt', 'reject'] } },
    ['message'],
  ),
  replies: {
    202: ok('The run has started, or starts when those before it are over', {
      type: 'object',
      required: ['runId', 'status', 'location'],
      properties: { runId: text, status: { enum: ['started', 'queued'] }, location: { type: 'string' } },
    }),
    ...refusals(409, 413, 415, 422),
  },
  idempotent: true,
  startsRun: true,
  async handle(call, { app }) {
    const { caller, params, body, onceId } = call
    const given = (isObject(body) ? body : {}) as { readonly message: string; readonly [key: string]: Json }
    const { runId, status } = await app.threads.say(
      { tenant: caller.tenant, threadId: params['threadId'] ?? '' },
      {
        // Validated by the route's schema.
        ...(given as { readonly message: string }),
        by: signature(caller),
        ...(includesPartials(call) && { partials: true }),
        ...(onceId !== undefined && { runId: `flex_${onceId.slice(0, 32)}` }),
      },
    )
    call.onAccepted()
    const location = `${api}/runs/${runId}`
    return { status: 202, headers: { location }, body: { runId, status, location } }
  },
}
