/**
 * Computes the tick times of a schedule: which are due, which were missed, which come next. Pure: the time is passed in.
 * Cron patterns are computed on the local calendar of an IANA time zone: a local time that a change of clocks skips fires when
 * the clocks have changed, and one that occurs twice fires once, except in patterns with a wildcard hour, which fire in both.
 */
import { Cron } from 'croner'
import { ProvisoError } from '../../base/errors/error.ts'

/** When runs start: at the matches of a cron pattern, or once. */
export type Timing = { readonly cron: string; readonly timeZone: string } | { readonly at: number }

export const missedRules = ['once', 'skip', 'all'] as const

/** What follows ticks that no process took in time. */
export type MissedRule = (typeof missedRules)[number]

/** A tick that is taken later than this is missed. */
export const graceMs = 60_000
/** The most missed ticks that `all` starts; older ones are skipped. */
export const mostMissed = 100

const nicknames = /^@(yearly|annually|monthly|weekly|daily|midnight|hourly)$/i

/** Throws `schedule/invalid` if the pattern or the time zone cannot be read. */
export function parseCron(cron: string, timeZone: string): Timing {
  assertTimeZone(timeZone)
  const fields = cron.trim().split(/\s+/).length
  if (!nicknames.test(cron.trim()) && fields !== 5 && fields !== 6)
    throw new ProvisoError('schedule/invalid', `cron must have 5 or 6 fields, got "${cron}"`, {
      hint: 'Write minute, hour, day, month and weekday, such as "0 7 * * 1-5"; a sixth field in front is the second',
    })
  try {
    createCron({ cron, timeZone })
  } catch (cause) {
    const why = cause instanceof Error ? cause.message.replace(/^CronPattern: /, '') : String(cause)
    throw new ProvisoError('schedule/invalid', `Cannot read the cron pattern "${cron}": ${why}`, { cause })
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
  return createCron(timing).nextRuns(count, new Date(after)).map(Number)
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
function listNewestTicks(timing: Extract<Timing, { cron: string }>, first: number, to: number): number[] {
  // Exclusive, and in whole seconds.
  const before = new Date((Math.floor(to / 1_000) + 1) * 1_000)
  return createCron(timing)
    .previousRuns(mostDue, before)
    .map(Number)
    .filter((tick) => tick >= first)
    .reverse()
}

function createCron({ cron, timeZone }: Extract<Timing, { cron: string }>): Cron {
  return new Cron(cron, { timezone: timeZone, paused: true })
}
