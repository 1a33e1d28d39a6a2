/**
 * The clock as a dependency: production passes the system clock, tests and the simulation pass their own. Ids that carry
 * its time.
 */

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

// Ids that sort by creation time (UUID version 7), so that rows of runs from the same time are adjacent.

/**
 * @example
 * timeOrderedId(0, new Uint8Array(16)) // '00000000-0000-7000-8000-000000000000'
 */
export function timeOrderedId(now: number, random: Uint8Array): string {
  const time = Math.floor(now).toString(16).padStart(12, '0')
  const hex = (from: number, to: number) => {
    let text = ''
    for (let index = from; index < to; index++) text += hexOf[random[index] ?? 0]
    return text
  }
  const version = hexOf[0x70 | ((random[6] ?? 0) & 0x0f)]
  const variant = hexOf[0x80 | ((random[8] ?? 0) & 0x3f)]
  return `${time.slice(0, 8)}-${time.slice(8)}-${version}${hex(7, 8)}-${variant}${hex(9, 10)}-${hex(10, 16)}`
}

const hexOf = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

/**
 * Settles as `work` does; rejects with `late()` at `until`, because what it waits for, such as a database, may never
 * answer.
 */
export function settleWithin<T>(
  work: Promise<T>,
  { clock, until, late }: { readonly clock: Clock; readonly until: number; readonly late: () => unknown },
): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancelTimer = clock.timer(until, () => reject(late()))
    work.then(resolve, reject).finally(cancelTimer)
  })
}
