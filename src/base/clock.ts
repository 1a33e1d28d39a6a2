/** Time as a value that is passed in: production hands in the machine's clock, tests and the simulation their own. */

export interface Clock {
  /** Milliseconds since 1970. */
  now(): number
  /** Calls back once at or after `at` (milliseconds since 1970), however far away that is; returns the way to take it back. */
  timer(at: number, callback: () => void): () => void
}

/** The longest delay that setTimeout keeps; a longer one would fire at once. */
const longestDelay = 2 ** 31 - 1

/** The machine's clock. A timer keeps the process alive until it fires or is taken back. */
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
