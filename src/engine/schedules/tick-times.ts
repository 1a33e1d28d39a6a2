/**
 * Computes the tick times of a schedule: which are due, which were missed, which come next. Pure: the time is passed in.
 * Cron patterns are computed on the local calendar of an IANA time zone: a local time that a change of clocks skips fires when
 * the clocks have changed, and one that occurs twice fires once. Patterns with a wildcard hour follow the hours as they pass:
 * they fire in both, and not in one that is skipped.
 */
import { Cron } from 'croner'
import { ProvisoError } from '../../base/errors/error.ts'
import { fromWallClock, toWallClock } from './local-time.ts'

/** When runs start: at the matches of a cron pattern, or once. */
export type Timing = { readonly cron: string; readonly timeZone: string } | { readonly at: number }

export const missedRules = ['once', 'skip', 'all'] as const

/** What follows ticks that no process took in time. */
export type MissedRule = (typeof missedRules)[number]

type CronTiming = Extract<Timing, { readonly cron: string }>

/** A tick that is taken later than this is missed. */
export const graceMs = 60_000
/** The most missed ticks that `all` starts; older ones are skipped. */
export const mostMissed = 100

const nicknames = /^@(yearly|annually|monthly|weekly|daily|midnight|hourly)$/i

const fieldsHint =
  'Write minute, hour, day, month and weekday, such as "0 7 * * 1-5"; a sixth field in front is the second'

/** Throws `schedule/invalid` if the pattern or the time zone cannot be read. */
export function parseCron(cron: string, timeZone: string): Timing {
  assertTimeZone(timeZone)
  const fields = cron.trim().split(/\s+/).length
  if (!nicknames.test(cron.trim()) && fields !== 5 && fields !== 6)
    throw new ProvisoError('schedule/invalid', `cron must have 5 or 6 fields, got "${cron}"`, {
      hint: fieldsHint,
    })
  try {
    createCron({ cron, timeZone })
  } catch (cause) {
    const why = cause instanceof Error ? cause.message.replace(/^CronPattern: /, '') : String(cause)
    throw new ProvisoError('schedule/invalid', `Cannot read the cron pattern "${cron}": ${why}`, {
      hint: fieldsHint,
      cause,
    })
  }
  return { cron: cron.trim(), timeZone }
}

function assertTimeZone(timeZone: string): void {
  try {
    if (!/^[A-Za-z]/.test(timeZone)) throw new RangeError('an offset')
    new Intl.DateTimeFormat('en', { timeZone })
  } catch (cause) {
    throw new ProvisoError('schedule/invalid', `timeZone must be an IANA time zone, got "${timeZone}"`, {
      hint: 'Use a name such as Europe/Berlin or UTC',
      cause,
    })
  }
}

/** The next ticks after a time, earliest first; fewer if there are no more. */
export function listNextTicks(
  timing: Timing,
  { after, count }: { readonly after: number; readonly count: number },
): readonly number[] {
  if ('at' in timing) return timing.at > after ? [timing.at] : []
  return take(count, walk(timing, after, 1), () => true)
}

interface Due {
  /** Ticks to start, earliest first. */
  readonly starts: readonly number[]
  /** The newest missed ticks that are not started, at most as many as are kept of the past. */
  readonly skipped: readonly number[]
  /** The first tick that is not due yet. */
  readonly next?: number
}

/** Decides about the ticks from `first`, the earliest that was not decided yet, until now. */
export function decideTicks(
  timing: Timing,
  { first, now, missed }: { readonly first: number; readonly now: number; readonly missed: MissedRule },
): Due {
  const due = 'at' in timing ? [timing.at] : listNewestTicks(timing, first, now)
  const late = due.filter((tick) => now - tick > graceMs)
  const onTime = due.filter((tick) => now - tick <= graceMs)
  const caughtUp = chooseMissed(late, onTime.length > 0, missed)
  const skipped = late.filter((tick) => !caughtUp.includes(tick))
  const [next] = listNextTicks(timing, { after: now, count: 1 })
  return { starts: [...caughtUp, ...onTime], skipped, ...(next !== undefined && { next }) }
}

/** With `once`, a tick that is on time catches up for the missed ones. */
function chooseMissed(late: readonly number[], hasOnTime: boolean, missed: MissedRule): readonly number[] {
  if (missed === 'all') return late.slice(-mostMissed)
  return missed === 'once' && !hasOnTime ? late.slice(-1) : []
}

/** Ticks that are kept beside the missed ones: those within the grace period of a pattern with seconds. */
const mostDue = mostMissed + graceMs / 1_000 + 1

/** The newest ticks of a pattern from `first` to `to`, earliest first; their number is bounded, however long nothing ran. */
function listNewestTicks(timing: CronTiming, first: number, to: number): number[] {
  // Exclusive, and in whole seconds.
  const before = (Math.floor(to / 1_000) + 1) * 1_000
  return take(mostDue, walk(timing, before, -1), (tick) => tick >= first).reverse()
}

function take(count: number, ticks: Iterable<number>, isWanted: (tick: number) => boolean): number[] {
  const taken: number[] = []
  if (count <= 0) return taken
  for (const tick of ticks) {
    if (!isWanted(tick)) break
    if (taken.push(tick) >= count) break
  }
  return taken
}

/** Yields the ticks of a pattern after a time, or before it, nearest first. */
function* walk(timing: CronTiming, from: number, direction: 1 | -1): Generator<number> {
  const { timeZone } = timing
  const isHourly = hasWildcardHour(timing)
  const cron = createCron(isHourly ? timing : { ...timing, timeZone: 'UTC' })
  const toInstant = (time: number) => (isHourly ? time : fromWallClock(time, timeZone))
  let last = from
  let time = isHourly ? from : findWallClock(from, timeZone, direction)
  for (;;) {
    const [found] = direction > 0 ? cron.nextRuns(1, new Date(time)) : cron.previousRuns(1, new Date(time))
    if (!found) return
    time = Number(found)
    const tick = toInstant(time)
    // Times of a skipped hour are all at the change of the clocks.
    if ((tick - last) * direction <= 0) continue
    last = tick
    yield tick
  }
}

/** The wall clock time to walk from: before a time in the second of two equal hours, that is the end of the first one. */
function findWallClock(instant: number, timeZone: string, direction: 1 | -1): number {
  const wall = toWallClock(instant, timeZone)
  const second = Math.floor(instant / 1_000) * 1_000
  return direction > 0 ? wall : wall + Math.max(0, second - fromWallClock(wall, timeZone))
}

/** `*`, and steps of it such as an asterisk with `/2`. */
function hasWildcardHour({ cron }: CronTiming): boolean {
  if (cron.startsWith('@')) return /^@hourly$/i.test(cron)
  return /^[*?]/.test(cron.split(/\s+/).at(-4) ?? '')
}

function createCron({ cron, timeZone }: CronTiming): Cron {
  return new Cron(cron, { timezone: timeZone, paused: true })
}
