/** A clock on which pauses take no time: short timers fire at once and move the time on; what was waited for is noted. */
import type { Clock } from '../src/index.ts'
import { systemClock } from './seams/base.ts'

export interface QuickClock extends Clock {
  /** Every pause that a timer ended, in milliseconds. */
  readonly waits: readonly number[]
}

/** Timers beyond this one (leases, polls, time-outs) are real. */
const longestPause = 60_000

/** For `createApp`: its own timers must not fire at once again and again. */
export const patient = { leaseMs: 3_600_000, pollMs: 3_600_000 }

export function createQuickClock(): QuickClock {
  let ahead = 0
  const waits: number[] = []
  const now = () => Date.now() + ahead
  return {
    waits,
    now,
    timer(at, callback) {
      const wait = at - now()
      if (wait > longestPause) return systemClock.timer(at - ahead, callback)
      const handle = setImmediate(() => {
        ahead += Math.max(at - now(), 0)
        if (wait > 0) waits.push(wait)
        callback()
      })
      return () => clearImmediate(handle)
    },
  }
}
