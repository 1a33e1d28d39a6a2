/** Schedules of a tenant over the API: runs that start at the matches of a cron pattern, or once at a time. */

import { type RunRequest, toEnvelope } from '../run-request.ts'
import { api, createKey, type Transport } from '../transport.ts'
import type {
  NewSchedule as NewSchedulePage,
  RunDraft,
  RunEnvelope,
  Schedule,
  ScheduleChange as ScheduleChangePage,
  SchedulePage,
} from '../types.ts'

interface ScheduledRun {
  /**
   * What each run is started with, as for `runs.start`. Of a schema of another library only its JSON Schema is checked.
   */
  readonly envelope: RunEnvelope | RunRequest
  /** The plan; absent: each run is planned. */
  readonly draft?: RunDraft
}

export type NewSchedule = Omit<NewSchedulePage, keyof ScheduledRun> & ScheduledRun
export type ScheduleChange = Omit<ScheduleChangePage, keyof ScheduledRun> & Partial<ScheduledRun>

const translate = <Given extends Partial<ScheduledRun>>(given: Given) =>
  given.envelope ? { ...given, envelope: toEnvelope(given.envelope).envelope } : given

interface Options {
  readonly signal?: AbortSignal
}

/** Changes need the role operator. */
export interface SchedulesClient {
  /** Adds a schedule with `cron` and `timeZone`, or `at`. The same key and schedule return the same schedule, for 24 hours. */
  create(schedule: NewSchedule, options?: Options & { readonly idempotencyKey?: string }): Promise<Schedule>
  /** Newest first. */
  list(options?: Options): Promise<readonly Schedule[]>
  /** `fires`: how many of the next ticks are listed, at most 100. Default 5. */
  get(scheduleId: string, options?: Options & { readonly fires?: number }): Promise<Schedule>
  change(scheduleId: string, change: ScheduleChange, options?: Options): Promise<Schedule>
  pause(scheduleId: string, options?: Options): Promise<Schedule>
  /** Continues with the next tick from now. */
  resume(scheduleId: string, options?: Options): Promise<Schedule>
  /** Deletes a schedule; the runs that it started continue. */
  delete(scheduleId: string, options?: Options): Promise<void>
}

export function createSchedulesClient(transport: Transport): SchedulesClient {
  const base = `${api}/schedules`
  const toPath = (scheduleId: string) => `${base}/${encodeURIComponent(scheduleId)}`
  const change = (scheduleId: string, body: ScheduleChange, { signal }: Options = {}) =>
    transport.json<Schedule>(toPath(scheduleId), { method: 'PATCH', body: translate(body), signal })
  return {
    create: (body, { signal, idempotencyKey = createKey() } = {}) =>
      transport.json<Schedule>(base, {
        method: 'POST',
        headers: { 'idempotency-key': idempotencyKey },
        body: translate(body),
        signal,
      }),
    list: async ({ signal } = {}) => (await transport.json<SchedulePage>(base, { signal })).schedules,
    get: (scheduleId, { signal, fires } = {}) =>
      transport.json<Schedule>(toPath(scheduleId), { query: { fires }, signal }),
    change,
    pause: (scheduleId, options) => change(scheduleId, { isPaused: true }, options),
    resume: (scheduleId, options) => change(scheduleId, { isPaused: false }, options),
    async delete(scheduleId, { signal } = {}) {
      await transport.send(toPath(scheduleId), { method: 'DELETE', signal })
    },
  }
}
