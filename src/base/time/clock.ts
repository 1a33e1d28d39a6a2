/** The clock as a dependency: production passes the system clock, tests and the simulation pass their own. */

export interface Clock {
  /** Milliseconds since 1970. */
  now(): number
  /**
   * Calls back once at or after `at` (milliseconds since 1970), however far away; returns a function that cancels the
   * timer.
   */
  timer(at: number, callback: () => void): () => void
}

/** The longest delay that setTimeout supports; a longer one would fire at once. */
const longestDelay = 2 ** 31 - 1

/** The system clock. A timer keeps the process alive until it fires or is cancelled. */
export const systemClock: Clock = {
  now: () => Date.now(),
  timer(at, callback) {
    let handle: ReturnType<typeof setTimeout>
    const arm = () => {
      const delay = at - Date.now()
      handle = setTimeout(delay > longestDelay ? arm : callback, Math.min(Math.max(delay, 0), longestDelay))
    }
    arm()
    return () => clearTimeout(handle)
  },
}
