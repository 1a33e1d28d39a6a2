/**
 * Claim back-off: after this process releases a run for lack of a capability, it does not claim the run again for a pause
 * that doubles each time, so that two such processes do not pass the run back and forth forever. Any event of the run, or
 * the capability becoming available here, ends the pause.
 */
import type { Clock } from '../../base/time/clock.ts'
import { backoffMs, type RetryPolicy } from '../../base/time/retry.ts'

export interface ClaimBackOff {
  /**
   * Records a run released for lack of these capabilities. `timerAt`: when a timer of the run is due, which any process
   * can fire.
   */
  add(runId: string, lack: Lack, timerAt: number | undefined): void
  /**
   * Ends the pause: the run continued here, or has new events. A release is not an event: two processes that lack a
   * capability must not pass the run back and forth.
   */
  remove(runId: string): void
  /** When the pause of a run ends; `undefined` if it has none. */
  until(runId: string): number | undefined
  /** Run ids to skip while claiming. */
  excludedRuns(): string[]
}

/** The capabilities that a run of this tenant needs and this process lacks. */
interface Lack {
  readonly tenant: string
  readonly missing: readonly string[]
}

interface Left extends Lack {
  readonly until: number
  /** How often the run was released in a row. */
  readonly releases: number
}

/** Each claim lists all of them; beyond this limit the oldest entry is dropped, and its run may be claimed once more. */
const most = 1_000

export function createClaimBackOff({
  clock,
  firstMs,
  knows,
}: {
  readonly clock: Pick<Clock, 'now'>
  /** Length of the first pause. */
  readonly firstMs: number
  readonly knows: (capabilityId: string, tenant: string) => boolean
}): ClaimBackOff {
  // A run may be released any number of times; one process claims at a time, so without jitter.
  const policy: RetryPolicy = {
    max: Number.POSITIVE_INFINITY,
    baseMs: firstMs,
    factor: 2,
    capMs: 60_000,
    jitter: 'none',
  }
  const left = new Map<string, Left>()
  return {
    add(runId, { tenant, missing }, timerAt = Number.POSITIVE_INFINITY) {
      const releases = (left.get(runId)?.releases ?? 0) + 1
      const until = Math.min(clock.now() + backoffMs(policy, releases), timerAt)
      left.delete(runId)
      left.set(runId, { tenant, missing, releases, until })
      const [oldest] = left.keys()
      if (left.size > most && oldest !== undefined) left.delete(oldest)
    },
    remove: (runId) => void left.delete(runId),
    until: (runId) => left.get(runId)?.until,
    excludedRuns() {
      if (left.size === 0) return []
      const now = clock.now()
      return [...left].flatMap(([runId, { until, tenant, missing }]) =>
        until > now && !missing.some((capabilityId) => knows(capabilityId, tenant)) ? [runId] : [],
      )
    },
  }
}
