/** Routes of human tasks: the list, and what people do with one. A task is an ask of kind `task` with an assignment. */
import { ProvisoError } from '../../base/errors/error.ts'
import type { Json } from '../../base/json.ts'
import type { AskRow } from '../../domain/ports/store.ts'
import { anyText, closed, text } from '../../domain/schemas/parts.ts'
import { openAssignment, taskPriorities } from '../../domain/task/assignment.ts'
import type { TaskChange } from '../../engine/input/change-task.ts'
import { findTasks, type TaskFilter, taskFilters } from '../../engine/input/task-list.ts'
import type { Caller, Route } from '../route.ts'
import type { ServedApp } from '../served.ts'
import { requireAsk } from './hitl.ts'
import { api, feedbackSchema, iso, ok, refusals, requireRun, toPerson } from './parts.ts'

const time = { type: 'string', format: 'date-time' } as const

const taskSchema = {
  type: 'object',
  required: [
    'requestId',
    'runId',
    'status',
    'priority',
    'question',
    'value',
    'valueHash',
    'createdAt',
    'dueAt',
  ],
  properties: {
    requestId: text,
    runId: text,
    nodeId: text,
    capabilityId: text,
    status: { enum: ['pending', 'resolved', 'denied'] },
    priority: { enum: taskPriorities },
    /** Who should do it. Absent: anyone of the role, or anyone. */
    assignee: text,
    /** Who follows if the assignee declines or is late. */
    next: { type: 'array', items: text },
    role: text,
    /** Who does it now. */
    claimedBy: text,
    claimedAt: time,
    declinedBy: { type: 'array', items: text },
    question: { type: 'string' },
    /** The inputs of the task. */
    value: true,
    valueHash: { type: 'string' },
    /** What the result must satisfy. */
    schema: { type: ['object', 'boolean'] },
    conditions: { type: 'array' },
    feedback: { type: 'array', items: feedbackSchema },
    createdAt: time,
    dueAt: time,
    resolvedAt: time,
    decision: { type: 'string' },
    by: { type: 'string' },
    note: { type: 'string' },
  },
} as const

function taskView(row: AskRow, { redactor }: ServedApp): Json {
  const { requestId, runId, nodeId, capabilityId, status, question, value, valueHash } = row
  const { assignment = openAssignment, schema, conditions, feedback, resolvedAt, decision, by, note } = row
  const { priority, assignee, next, role, claimedBy, claimedAt, declinedBy } = assignment
  const view = {
    requestId,
    runId,
    nodeId,
    capabilityId,
    status,
    priority,
    assignee,
    next,
    role,
    claimedBy,
    claimedAt: claimedAt === undefined ? undefined : iso(claimedAt),
    declinedBy,
    question,
    value,
    valueHash,
    schema,
    conditions,
    feedback,
    createdAt: iso(row.createdAt),
    dueAt: iso(row.expiresAt),
    resolvedAt: resolvedAt === undefined ? undefined : iso(resolvedAt),
    decision,
    by,
    note,
  }
  const members = Object.entries(view).filter(([, member]) => member !== undefined)
  // The redactor preserves the shape.
  return redactor.value(Object.fromEntries(members)) as Json
}

interface TasksQuery {
  readonly status?: AskRow['status']
  readonly filter?: TaskFilter
  readonly runId?: string
  readonly limit?: number
  readonly after?: string
}

export const listTasks: Route = {
  method: 'GET',
  path: `${api}/tasks`,
  operation: 'listTasks',
  summary: 'List the tasks of people: open ones by priority and due time, past ones oldest first',
  roles: ['operator'],
  query: closed({
    status: { enum: ['pending', 'resolved', 'denied'] },
    filter: {
      enum: taskFilters,
      description:
        'mine: assigned to the caller, or held or done by the caller; role: offered to a task role of the caller; available: all that the caller may do; all (default)',
    },
    runId: text,
    limit: { type: 'integer', minimum: 1, maximum: 200 },
    after: text,
  }),
  replies: {
    200: ok('A page of tasks; pass next as after for the next page', {
      type: 'object',
      required: ['tasks'],
      properties: { tasks: { type: 'array', items: taskSchema }, next: text },
    }),
    ...refusals(404),
  },
  async handle({ caller, query }, { app }) {
    // Validated by the route's schema.
    const { status = 'pending', filter = 'all', runId, limit = 50, after } = query as unknown as TasksQuery
    if (runId !== undefined) await requireRun(app, caller, runId)
    const last = after === undefined ? undefined : await requireAsk(app, caller, after)
    const found = await findTasks(app.shown ?? app.store, {
      tenant: caller.tenant,
      status,
      filter,
      person: toPerson(caller),
      limit,
      ...(runId !== undefined && { runId }),
      ...(last && { after: last }),
    })
    const page = found.slice(0, limit)
    const next = found.length > limit ? page.at(-1)?.requestId : undefined
    return {
      status: 200,
      body: { tasks: page.map((task) => taskView(task, app)), ...(next !== undefined && { next }) },
    }
  },
}

/** Returns a task of the caller's tenant; those of other tenants, and other asks, are not found. */
async function requireTask(app: ServedApp, caller: Caller, requestId: string): Promise<AskRow> {
  const ask = await requireAsk(app, caller, requestId)
  if (ask.kind === 'task') return ask
  throw new ProvisoError('ask/unknown', `Task "${requestId}" not found: it is an ask of kind "${ask.kind}"`)
}

async function showTask(app: ServedApp, { requestId }: AskRow) {
  const row = await (app.shown ?? app.store).ask(requestId)
  if (row === undefined) throw new ProvisoError('ask/unknown', `Task "${requestId}" not found`)
  return { status: 200, body: taskView(row, app) }
}

const shared = {
  method: 'POST',
  roles: ['operator'],
  isControl: true,
  idempotent: true,
  params: closed({ requestId: text }, ['requestId']),
  replies: { 200: ok('The task after the change', taskSchema), ...refusals(404, 409, 413, 415, 422) },
} as const

/** Only a note, or no body at all. */
const noteBody = { anyOf: [{ type: 'null' }, closed({ note: anyText })] } as const

function changeRoute(
  change: TaskChange['change'],
  { operation, summary }: Pick<Route, 'operation' | 'summary'>,
): Route {
  return {
    ...shared,
    path: `${api}/tasks/:requestId/${change}`,
    operation,
    summary,
    body: noteBody,
    async handle({ caller, params, body }, { app }) {
      const task = await requireTask(app, caller, params['requestId'] ?? '')
      // Validated by the route's schema.
      const { note } = (body ?? {}) as { readonly note?: string }
      const { requestId, runId } = task
      await app.changeTask(runId, {
        requestId,
        change,
        ...toPerson(caller),
        ...(note !== undefined && { note }),
      })
      return showTask(app, task)
    },
  }
}

export const claimTask = changeRoute('claim', {
  operation: 'claimTask',
  summary: 'Claim a task; 409 names the person who holds it',
})

export const releaseTask = changeRoute('release', {
  operation: 'releaseTask',
  summary: 'Release a claimed task; an admin may release the task of another person',
})

export const declineTask = changeRoute('decline', {
  operation: 'declineTask',
  summary: 'Decline a task: it passes to the next assignee, to the role, or to an alternate of its node',
})

export const completeTask: Route = {
  ...shared,
  path: `${api}/tasks/:requestId/complete`,
  operation: 'completeTask',
  summary: 'Complete a task with its result, which must satisfy the contract; the run continues',
  body: closed({ value: true, note: anyText }, ['value']),
  async handle({ caller, params, body }, { app }) {
    const task = await requireTask(app, caller, params['requestId'] ?? '')
    // Validated by the route's schema.
    const { value, note } = body as unknown as { readonly value: Json; readonly note?: string }
    const { requestId, runId, valueHash } = task
    await app.reply(runId, {
      requestId,
      valueHash,
      decision: 'answer',
      value,
      ...toPerson(caller),
      ...(note !== undefined && { note }),
    })
    return showTask(app, task)
  },
}
