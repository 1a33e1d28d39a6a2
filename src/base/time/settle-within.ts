/** Bounds how long a promise is waited for: what it waits for, such as a database, may never answer. */
import type { Clock } from './clock.ts'

/** Settles as `work` does; rejects with `late()` at `until`. */
export function settleWithin<T>(
  work: Promise<T>,
  { clock, until, late }: { readonly clock: Clock; readonly until: number; readonly late: () => unknown },
): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancelTimer = clock.timer(until, () => reject(late()))
    work.then(resolve, reject).finally(cancelTimer)
  })
}
