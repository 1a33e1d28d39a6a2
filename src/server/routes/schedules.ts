/**
 * Routes for schedules: runs that start at the matches of a cron pattern, or once at a time. A schedule outlives the token
 * that added it, so only operators change them.
 */
import { ProvisoError } from '../../base/errors/error.ts'
import type { Json } from '../../base/json.ts'
import { closed, flag, map, text } from '../../domain/schemas/parts.ts'
import {
  missedRules,
  type NewSchedule,
  overlapRules,
  type Schedule,
  type ScheduleChange,
} from '../../engine/schedules/schedules.ts'
import type { Route } from '../route.ts'
import type { ServedApp } from '../served.ts'
import { api, iso, ok, refusals, signature } from './parts.ts'

const path = `${api}/schedules`
const time = { type: 'string', format: 'date-time' } as const
const params = closed({ scheduleId: { ...text, maxLength: 100 } }, ['scheduleId'])

const timing = {
  description: { type: 'string', maxLength: 500 },
  /** Minute, hour, day, month, weekday; optionally the second in front. */
  cron: { ...text, maxLength: 200 },
  /** IANA time zone of `cron`. Default `UTC`. */
  timeZone: { ...text, maxLength: 100 },
  /** Start once, at this time. */
  at: time,
  threadId: text,
  missed: { enum: missedRules },
  overlap: { enum: overlapRules },
  isPaused: flag,
} as const

const given = { ...timing, envelope: map, draft: map } as const

const { isPaused: _, ...shown } = timing
const scheduleSchema = {
  type: 'object',
  required: [
    'scheduleId',
    'status',
    'missed',
    'overlap',
    'envelope',
    'next',
    'past',
    'createdAt',
    'createdBy',
  ],
  properties: {
    scheduleId: text,
    ...shown,
    envelope: map,
    draft: map,
    status: { enum: ['active', 'paused', 'done'] },
    /** The next ticks, earliest first. */
    next: { type: 'array', items: time },
    /** The last ticks, newest first. */
    past: {
      type: 'array',
      items: {
        type: 'object',
        required: ['at'],
        properties: {
          at: time,
          runId: text,
          skipped: { enum: ['missed', 'overlap', 'quota'] },
          error: { type: 'string' },
        },
      },
    },
    createdAt: time,
    createdBy: { type: 'string' },
  },
} as const

export const createSchedule: Route = {
  method: 'POST',
  path,
  operation: 'createSchedule',
  summary: 'Add a schedule: start a run at every match of a cron pattern, or once at a time',
  roles: ['operator'],
  body: closed({ ...given, scheduleId: { ...text, maxLength: 100 } }, ['envelope']),
  replies: { 201: ok('The schedule', scheduleSchema), ...refusals(409, 413, 415, 422) },
  idempotent: true,
  async handle({ caller, body, onceId }, { app }) {
    const { tenant } = caller
    // Validated by the route's schema.
    const schedule = body as unknown as NewSchedule
    // The same request after a crash names the same schedule.
    const scheduleId = schedule.scheduleId ?? (onceId && `sch_${onceId.slice(0, 16)}`)
    const by = { tenant, by: signature(caller) }
    const named = { ...schedule, ...by, ...(scheduleId !== undefined && { scheduleId }) }
    const added = await app.schedules.add(named).catch((cause: unknown) => {
      const isRepeated =
        ProvisoError.is(cause) && cause.code === 'schedule/taken' && schedule.scheduleId === undefined
      if (isRepeated && scheduleId !== undefined) return app.schedules.get(scheduleId, { tenant })
      throw cause
    })
    return { status: 201, headers: { location: `${path}/${added.scheduleId}` }, body: toView(added, app) }
  },
}

export const listSchedules: Route = {
  method: 'GET',
  path,
  operation: 'listSchedules',
  summary: 'List the schedules of the caller’s tenant, newest first',
  roles: ['caller', 'operator'],
  replies: {
    200: ok('The schedules', {
      type: 'object',
      required: ['schedules'],
      properties: { schedules: { type: 'array', items: scheduleSchema } },
    }),
    ...refusals(),
  },
  async handle({ caller: { tenant } }, { app }) {
    const schedules = await app.schedules.list({ tenant })
    return { status: 200, body: { schedules: schedules.map((each) => toView(each, app)) } }
  },
}

export const showSchedule: Route = {
  method: 'GET',
  path: `${path}/:scheduleId`,
  operation: 'showSchedule',
  summary: 'Show a schedule: its next ticks, and what happened at the last ones',
  roles: ['caller', 'operator'],
  params,
  query: closed({ fires: { type: 'integer', minimum: 1, maximum: 100 } }),
  replies: { 200: ok('The schedule', scheduleSchema), ...refusals(404) },
  async handle({ caller: { tenant }, params, query }, { app }) {
    const fires = query['fires'] === undefined ? {} : { fires: Number(query['fires']) }
    const schedule = await app.schedules.get(params['scheduleId'] ?? '', { tenant, ...fires })
    return { status: 200, body: toView(schedule, app) }
  },
}

export const changeSchedule: Route = {
  method: 'PATCH',
  path: `${path}/:scheduleId`,
  operation: 'changeSchedule',
  summary: 'Change, pause or resume a schedule',
  roles: ['operator'],
  params,
  body: closed(given),
  replies: { 200: ok('The schedule', scheduleSchema), ...refusals(404, 413, 415, 422) },
  async handle({ caller, params, body }, { app }) {
    const changed = await app.schedules.change(params['scheduleId'] ?? '', {
      // Validated by the route's schema.
      ...(body as unknown as ScheduleChange),
      tenant: caller.tenant,
      by: signature(caller),
    })
    return { status: 200, body: toView(changed, app) }
  },
}

export const deleteSchedule: Route = {
  method: 'DELETE',
  path: `${path}/:scheduleId`,
  operation: 'deleteSchedule',
  summary: 'Delete a schedule; the runs that it started continue',
  roles: ['operator'],
  params,
  replies: { 204: { description: 'Deleted' }, ...refusals(404, 422) },
  async handle({ caller, params }, { app }) {
    await app.schedules.remove(params['scheduleId'] ?? '', { tenant: caller.tenant, by: signature(caller) })
    return { status: 204 }
  },
}

function toView({ tenant: _, at, createdAt, next, past, ...rest }: Schedule, { redactor }: ServedApp): Json {
  const view = {
    ...rest,
    ...(at !== undefined && { at: iso(at) }),
    createdAt: iso(createdAt),
    next: next.map(iso),
    past: past.map((tick) => ({ ...tick, at: iso(tick.at) })),
  }
  // The redactor preserves the shape.
  return redactor.value(view) as Json
}
