/**
 * Schedules: runs of a tenant that start at the matches of a cron pattern, or once at a time. A schedule is a document of the
 * store that is due at its next tick. One process claims it, starts the runs of its due ticks and moves it to its next tick
 * (compare-and-set by version, by the store's clock). The run id is derived from schedule and tick: if a process dies in
 * between, another claims the schedule when the claim expires, and a tick that was started already is found, not repeated.
 */
import { randomBytes } from 'node:crypto'
import { canonicalJson, sha256Hex } from '../../base/canonical.ts'
import { ProvisoError } from '../../base/errors/error.ts'
import { type Json, jsonEqual, pick } from '../../base/json.ts'
import { must, type Rows, refuseOptions } from '../../base/option-rows.ts'
import type { Clock } from '../../base/time/clock.ts'
import {
  type DraftInput,
  type EnvelopeInput,
  translateEnvelope,
} from '../../domain/envelope/envelope-input.ts'
import type { DocumentRow, Documents } from '../../domain/ports/documents.ts'
import { type NewOperation, unnamedActor } from '../../domain/ports/operations.ts'
import type { Store } from '../../domain/ports/store.ts'
import type { Redactor } from '../../domain/redaction/redact.ts'
import { isTerminal } from '../../domain/status.ts'
import {
  decideTicks,
  listNextTicks,
  type MissedRule,
  missedRules,
  parseCron,
  type Timing,
} from './tick-times.ts'

export { listNextTicks, type MissedRule, missedRules, parseCron } from './tick-times.ts'

export const overlapRules = ['allow', 'skip'] as const

/** What follows a tick while the run of the last one is not over. */
type OverlapRule = (typeof overlapRules)[number]

/** Whose schedules, and who changes them. */
export interface ScheduleOwner {
  /** Default `default`. */
  readonly tenant?: string
  /** Recorded in the operations audit. Default `library`. */
  readonly by?: string
}

/** What a schedule starts, and when; either `cron` or `at`. */
export interface NewSchedule {
  /** Letters, digits, `_`, `.` and `-`; unique in the tenant. Default: a new one. */
  readonly scheduleId?: string
  readonly description?: string
  /** Minute, hour, day, month, weekday; optionally the second in front. */
  readonly cron?: string
  /** IANA time zone of `cron`. Default `UTC`. */
  readonly timeZone?: string
  /** Start once, at this time: an ISO 8601 text with an offset. */
  readonly at?: string
  /**
   * What each run is started with, as for `app.start`. Runs start in any process, so that of a schema of another library only
   * its JSON Schema is checked.
   */
  readonly envelope: EnvelopeInput
  /** The plan; absent: each run is planned. */
  readonly draft?: DraftInput
  readonly threadId?: string
  /**
   * Ticks that no process took within a minute: `once` starts one run for all of them (default), `skip` none, `all` one for
   * each, the newest 100.
   */
  readonly missed?: MissedRule
  /** While the run of the last tick is not over: `allow` starts another (default), `skip` does not. */
  readonly overlap?: OverlapRule
  readonly isPaused?: boolean
}

export type ScheduleChange = Partial<Omit<NewSchedule, 'scheduleId'>>

/** What happened at a tick. */
export interface PastTick {
  readonly at: number
  /** The run that was started. */
  readonly runId?: string
  readonly skipped?: 'missed' | 'overlap' | 'quota'
  /** Why no run could be started. */
  readonly error?: string
}

export interface Schedule {
  readonly scheduleId: string
  readonly tenant: string
  readonly description?: string
  readonly cron?: string
  readonly timeZone?: string
  readonly at?: number
  readonly envelope: Json
  readonly draft?: Json
  readonly threadId?: string
  readonly missed: MissedRule
  readonly overlap: OverlapRule
  /** `done`: a one-shot schedule that has fired. */
  readonly status: 'active' | 'paused' | 'done'
  /** The next ticks, earliest first; empty unless it is active. */
  readonly next: readonly number[]
  /** The last ticks, newest first, at most 20. */
  readonly past: readonly PastTick[]
  readonly createdAt: number
  readonly createdBy: string
}

export interface Schedules {
  /** Throws `schedule/invalid`, `schedule/taken`, `schedule/limit`, or what `prepare` throws about the envelope. */
  add(given: NewSchedule & ScheduleOwner): Promise<Schedule>
  /** Newest first. */
  list(owner?: Pick<ScheduleOwner, 'tenant'>): Promise<readonly Schedule[]>
  /** `fires`: how many of the next ticks are listed. Default 5. Throws `schedule/unknown`. */
  get(
    scheduleId: string,
    given?: Pick<ScheduleOwner, 'tenant'> & { readonly fires?: number },
  ): Promise<Schedule>
  /** Changes, pauses (`isPaused: true`) or resumes it. Ticks during a pause are not missed: they never were. */
  change(scheduleId: string, change: ScheduleChange & ScheduleOwner): Promise<Schedule>
  remove(scheduleId: string, owner?: ScheduleOwner): Promise<void>
}

interface ServiceParts {
  readonly documents: Documents
  readonly clock: Pick<Clock, 'now'>
  readonly redactor: Redactor
  /** Throws if a run could not be started with this. */
  readonly check: (envelope: unknown, options: StartOptions) => void
}

interface StartOptions {
  readonly tenant: string
  readonly draft?: unknown
  readonly threadId?: string
}

const kind = 'schedule'
const mostSchedules = 100
const mostPast = 20
const defaultFires = 5
/** How often a change is tried again that another process got ahead of. */
const tries = 5

/** The content of the document; only this module writes it. */
interface Body
  extends Pick<Schedule, 'envelope' | 'draft' | 'threadId' | 'missed' | 'overlap' | 'description'> {
  readonly timing: Timing
  readonly isPaused: boolean
  /** The first tick that was not decided yet; absent: there is none. */
  readonly next?: number
  readonly past: readonly PastTick[]
  readonly by: string
}

/** Adds, changes and lists schedules; they fire in the processes that execute the runs of the store. */
export function createScheduleServices({ documents, clock, redactor, check }: ServiceParts): Schedules {
  const findRow = async (tenant: string, id: string): Promise<DocumentRow> => {
    const row = await documents.find({ kind, tenant, id })
    if (row === undefined) throw unknownSchedule(id)
    return row
  }
  const assertUsable = (tenant: string, body: Body) => {
    check(body.envelope, { tenant, ...pick(body, ['draft', 'threadId']) })
    refuseSecrets(redactor, body)
  }
  return {
    async add(schedule) {
      refuseOptions('the schedule', schedule, scheduleRows)
      const { tenant = 'default', by = unnamedActor, scheduleId, ...given } = schedule
      const id = scheduleId ?? `sch_${randomBytes(8).toString('hex')}`
      if (!/^[\w.-]{1,100}$/.test(id))
        throw new ProvisoError('schedule/invalid', `scheduleId must be a short name, got "${id}"`, {
          hint: 'Use at most 100 letters, digits, "_", "." and "-"',
        })
      const timing = readTiming(given, undefined)
      const body = changeBody({ timing, past: [], by, ...defaults }, given, { now: clock.now(), timing })
      assertUsable(tenant, body)
      const count = (await documents.list({ kind, tenant })).length
      if (count >= mostSchedules)
        throw new ProvisoError('schedule/limit', `Cannot add a schedule: the tenant has ${count}`)
      const operation = toOperation('schedule.created', { tenant, by, id, body })
      const row = await documents.add({ kind, tenant, id, ...toStored(body) }, { operation })
      if (row === undefined)
        throw new ProvisoError('schedule/taken', `Cannot add schedule "${id}": it exists`)
      return toSchedule(row, clock.now())
    },
    async list({ tenant } = {}) {
      const rows = await documents.list({ kind, ...(tenant !== undefined && { tenant }) })
      return rows.map((row) => toSchedule(row, clock.now()))
    },
    async get(scheduleId, { tenant = 'default', fires } = {}) {
      return toSchedule(await findRow(tenant, scheduleId), clock.now(), fires)
    },
    async change(scheduleId, given) {
      refuseOptions('the change of the schedule', given, changeRows)
      const { tenant = 'default', by = unnamedActor, ...change } = given
      for (let left = tries; left > 0; left--) {
        const row = await findRow(tenant, scheduleId)
        const before = toBody(row)
        const timing = readTiming(change, before.timing)
        const body = changeBody(before, change, { now: clock.now(), timing })
        assertUsable(tenant, body)
        const operation = toOperation('schedule.changed', { tenant, by, id: scheduleId, body })
        const replaced = await documents.replace(
          { kind, tenant, id: scheduleId, ...toStored(body) },
          { version: row.version, operation },
        )
        if (replaced) return toSchedule(replaced, clock.now())
      }
      throw new ProvisoError('store/unavailable', 'Others change the schedule at the same time')
    },
    async remove(scheduleId, { tenant = 'default', by = unnamedActor } = {}) {
      const body = toBody(await findRow(tenant, scheduleId))
      const operation = toOperation('schedule.removed', { tenant, by, id: scheduleId, body })
      if (!(await documents.remove({ kind, tenant, id: scheduleId }, { operation })))
        throw unknownSchedule(scheduleId)
    },
  }
}

/** Their values are checked where they are read. */
const known = () => []
const changeRows: Rows = {
  description: known,
  cron: known,
  timeZone: known,
  at: known,
  envelope: known,
  draft: known,
  threadId: known,
  missed: known,
  overlap: known,
  isPaused: must((value) => typeof value === 'boolean', 'true or false'),
  tenant: known,
  by: known,
}
const scheduleRows: Rows = { ...changeRows, scheduleId: known }

const defaults = { missed: 'once', overlap: 'allow', isPaused: false, envelope: null } as const

/** Applies a change. A new timing, and the end of a pause, begin with the next tick from now. */
function changeBody(
  before: Body,
  change: ScheduleChange,
  { now, timing }: { readonly now: number; readonly timing: Timing },
): Body {
  const given = pick(change, [
    'description',
    'envelope',
    'draft',
    'threadId',
    'missed',
    'overlap',
    'isPaused',
  ])
  assertRules(change)
  const envelope = given.envelope !== undefined && { envelope: translateEnvelope(given.envelope).envelope }
  const after = { ...before, ...({ ...given, ...envelope } as unknown as Partial<Body>), timing }
  const isNew =
    before.next === undefined || canonicalJson(timing as Json) !== canonicalJson(before.timing as Json)
  const isResumed = before.isPaused && !after.isPaused
  if (!isNew && !isResumed) return after
  const [next] = listNextTicks(timing, { after: now, count: 1 })
  const { next: _, ...rest } = after
  if (next !== undefined) return { ...rest, next }
  // A one-shot schedule that has fired may still get another description; a new time must be ahead.
  if (before.next === undefined && before.past.length > 0 && !('at' in change || 'cron' in change))
    return rest
  if ('at' in timing)
    throw new ProvisoError(
      'schedule/invalid',
      `at must be in the future, got "${new Date(timing.at).toISOString()}"`,
      { hint: 'Set `at` to a later time, or start the run now' },
    )
  throw new ProvisoError('schedule/invalid', `The cron pattern "${timing.cron}" never matches`, {
    hint: 'Correct its day and its month',
  })
}

function assertRules({ missed, overlap }: ScheduleChange): void {
  const assertOne = (name: string, value: string | undefined, allowed: readonly string[]) => {
    if (value === undefined || allowed.includes(value)) return
    throw new ProvisoError('schedule/invalid', `${name} must be one of ${allowed.join(', ')}, got "${value}"`)
  }
  assertOne('missed', missed, missedRules)
  assertOne('overlap', overlap, overlapRules)
}

function readTiming({ cron, timeZone, at }: ScheduleChange, before: Timing | undefined): Timing {
  const problem = (message: string) =>
    new ProvisoError('schedule/invalid', message, { hint: 'Set `cron` and `timeZone`, or `at`' })
  if (cron !== undefined && at !== undefined) throw problem('A schedule has either `cron` or `at`')
  if (at !== undefined) {
    if (timeZone !== undefined) throw problem('`timeZone` is for `cron`: `at` has its own offset')
    const time = /(Z|[+-]\d\d:\d\d)$/i.test(at) ? Date.parse(at) : Number.NaN
    if (Number.isNaN(time))
      throw new ProvisoError('schedule/invalid', `at must be a time with an offset, got "${at}"`, {
        hint: 'Use ISO 8601, such as 2027-01-31T07:00:00+01:00',
      })
    return { at: time }
  }
  const known = before !== undefined && 'cron' in before ? before : undefined
  const pattern = cron ?? known?.cron
  if (pattern !== undefined) return parseCron(pattern, timeZone ?? known?.timeZone ?? 'UTC')
  if (before === undefined) throw problem('A schedule needs `cron` or `at`')
  if (timeZone !== undefined) throw problem('`timeZone` is for `cron`: this schedule has `at`')
  return before
}

function toStored(body: Body): { readonly body: Json; readonly dueAt?: number } {
  return {
    body: body as unknown as Json,
    ...(!body.isPaused && body.next !== undefined && { dueAt: body.next }),
  }
}

function toBody({ body }: DocumentRow): Body {
  return body as unknown as Body
}

function toSchedule(row: DocumentRow, now: number, fires = defaultFires): Schedule {
  const { timing, isPaused, next, past, by, ...rest } = toBody(row)
  const status = next === undefined ? 'done' : isPaused ? 'paused' : 'active'
  const after = next === undefined ? now : Math.min(next - 1, now)
  return {
    scheduleId: row.id,
    tenant: row.tenant,
    ...timing,
    ...rest,
    status,
    next: status === 'active' ? listNextTicks(timing, { after, count: fires }) : [],
    past,
    createdAt: row.createdAt,
    createdBy: by,
  }
}

function toOperation(
  action: 'schedule.created' | 'schedule.changed' | 'schedule.removed',
  { tenant, by, id, body }: { tenant: string; by: string; id: string; body: Body },
): NewOperation {
  const { timing, missed, overlap, isPaused } = body
  return { tenant, by, action, subject: id, details: { ...timing, missed, overlap, isPaused } }
}

function unknownSchedule(id: string): ProvisoError {
  return new ProvisoError('schedule/unknown', `Schedule "${id}" not found`)
}

/** Documents are not sealed, unlike journals. */
function refuseSecrets(redactor: Redactor, body: Body): void {
  if (jsonEqual(redactor.value(body) as never, body as never)) return
  throw new ProvisoError('schedule/secret', 'Cannot add the schedule: it holds a secret')
}

/** Returns why a tenant may not start another run now. */
export type AdmitRun = (tenant: string) => Promise<string | undefined>

interface FiringParts extends Omit<ServiceParts, 'check' | 'clock'> {
  readonly clock: Clock
  readonly store: Pick<Store, 'head'>
  readonly prepare: (
    envelope: unknown,
    options: StartOptions & { readonly runId?: string; readonly correlationId?: string },
  ) => { start(): Promise<string> }
  /** How long a claimed schedule is left to the process that claimed it. */
  readonly leaseMs: number
  /** How soon schedules that other processes add or change are seen. */
  readonly pollMs: number
  /** Whether this process starts runs. */
  readonly isFiring: boolean
  readonly onError: (cause: unknown) => void
}

export interface FiringSchedules extends Schedules {
  /** Sets the quota that scheduled runs are subject to; without one, all start. */
  limit(admit: AdmitRun): void
  open(): void
  /** Resolves when the ticks that were claimed are started. */
  close(): Promise<void>
}

/** Claimed at once; more are claimed when these are started. */
const claimSize = 16
/** Lower bound between two queries of the store. */
const shortestPause = 50

/** The schedules of an app, with the loop that starts their runs. */
export function createSchedules(parts: FiringParts): FiringSchedules {
  const { documents, clock, prepare, pollMs } = parts
  const services = createScheduleServices({ ...parts, check: prepare })
  let admit: AdmitRun = async () => undefined
  let cancelTimer = () => {}
  let isClosed = !parts.isFiring
  let sweeping: Promise<void> | undefined

  /** Starts what is due; returns how long nothing is due. */
  const sweep = async (): Promise<number> => {
    while (!isClosed) {
      const next = await documents.nextDue(kind)
      if (next === undefined) return pollMs
      if (next.at > next.now) return next.at - next.now
      const rows = await documents.claimDue({ kind, limit: claimSize, leaseMs: parts.leaseMs })
      if (rows.length === 0) return shortestPause
      for (const row of rows) await fire(parts, row, admit).catch(parts.onError)
    }
    return pollMs
  }
  const run = () => {
    sweeping ??= sweep()
      .catch((cause: unknown) => {
        parts.onError(cause)
        return pollMs
      })
      .then((pause) => {
        sweeping = undefined
        wakeIn(Math.min(Math.max(pause, shortestPause), pollMs))
      })
  }
  const wakeIn = (ms: number) => {
    cancelTimer()
    if (!isClosed) cancelTimer = clock.timer(clock.now() + ms, run)
  }
  /** A schedule that this process adds or changes may be due before the next look. */
  const waking = async <T>(changing: Promise<T>): Promise<T> => {
    const done = await changing
    if (!sweeping) wakeIn(0)
    return done
  }
  return {
    ...services,
    add: (given) => waking(services.add(given)),
    change: (id, change) => waking(services.change(id, change)),
    limit(check) {
      admit = check
    },
    open: () => wakeIn(0),
    async close() {
      isClosed = true
      cancelTimer()
      await sweeping
    },
  }
}

/** Starts the due ticks of a claimed schedule, and moves it to its next tick unless it was changed meanwhile. */
async function fire(parts: FiringParts, row: DocumentRow, admit: AdmitRun): Promise<void> {
  const body = toBody(row)
  const { timing, missed, next: first } = body
  if (first === undefined) return
  // A claim sets it by the store's clock.
  const now = row.updatedAt
  const due = decideTicks(timing, { first, now, missed })
  const past: PastTick[] = due.skipped.map((at) => ({ at, skipped: 'missed' }))
  let last = body.past.find(({ runId }) => runId !== undefined)?.runId
  for (const at of due.starts) {
    const tick = await startTick(parts, { row, at, last, admit })
    last = tick.runId ?? last
    past.push(tick)
  }
  const { next: _, ...rest } = body
  const after: Body = {
    ...rest,
    ...(due.next !== undefined && { next: due.next }),
    past: [...past.sort((one, other) => other.at - one.at), ...body.past].slice(0, mostPast),
  }
  const { tenant, id, version } = row
  await parts.documents.replace({ kind, tenant, id, ...toStored(after) }, { version })
}

interface Tick {
  readonly row: DocumentRow
  readonly at: number
  /** The last run that was started before. */
  readonly last: string | undefined
  readonly admit: AdmitRun
}

async function startTick({ store, prepare }: FiringParts, { row, at, last, admit }: Tick): Promise<PastTick> {
  const { tenant, id } = row
  const { envelope, overlap, ...body } = toBody(row)
  const runId = toRunId(row, at)
  // A process that died after it had started the run: neither quota nor overlap apply to it again.
  if ((await store.head(runId)) !== undefined) return { at, runId }
  if (overlap === 'skip' && last !== undefined) {
    const head = await store.head(last)
    if (head !== undefined && !isTerminal(head.status)) return { at, skipped: 'overlap' }
  }
  const refused = await admit(tenant)
  if (refused !== undefined) return { at, skipped: 'quota', error: refused }
  try {
    const correlationId = `${id}@${new Date(at).toISOString()}`
    const options = { tenant, runId, correlationId, ...pick(body, ['draft', 'threadId']) }
    await prepare(envelope, options).start()
  } catch (cause) {
    if (!ProvisoError.is(cause)) throw cause
    // The store is not available, or this process ends: the claim expires, and the tick is tried again.
    if (cause.fate !== 'fix' || cause.code.startsWith('store/')) throw cause
    if (cause.code !== 'run/exists') return { at, error: cause.message }
  }
  return { at, runId }
}

/** The same tick has the same run, whichever process starts it; a schedule that was deleted and added again has others. */
function toRunId({ tenant, id, createdAt }: DocumentRow, at: number): string {
  return `flex_${sha256Hex(canonicalJson([tenant, id, createdAt, at])).slice(0, 32)}`
}
