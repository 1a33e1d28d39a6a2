/** A clock that is moved by hand. */
import type { Clock } from '../../src/index.ts'

export interface HandClock extends Clock {
  /** Time passes; timers that are due call back in order. */
  elapse(ms: number): void
  /** Timers that are set. */
  readonly pending: number
}

export function createHandClock(): HandClock {
  let now = 1_700_000_000_000
  const timers = new Set<{ readonly at: number; readonly callback: () => void }>()
  return {
    now: () => now,
    timer(at, callback) {
      const timer = { at, callback }
      timers.add(timer)
      return () => void timers.delete(timer)
    },
    elapse(ms) {
      now += ms
      for (const timer of [...timers].sort((one, other) => one.at - other.at)) {
        if (timer.at > now || !timers.delete(timer)) continue
        timer.callback()
      }
    },
    get pending() {
      return timers.size
    },
  }
}
