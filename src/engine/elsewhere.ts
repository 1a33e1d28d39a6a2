/**
 * Runs that were given back because this process lacks a capability which they need next: left to others for a while that
 * doubles each time, so that two such processes do not take the run from each other for ever. Anything that happens to the
 * run, or the capability coming here, ends the while at once.
 */
import type { Clock } from '../base/clock.ts'

export interface Elsewhere {
  /** Given back for lack of these capabilities. `timerAt`: then the run needs somebody who has none. */
  put(runId: string, lack: Lack, timerAt: number | undefined): void
  /** It went on here, or something happened to it: it may be claimed again. */
  forget(runId: string): void
  /** Runs that are not to be claimed now. */
  ids(): string[]
}

/** What a run of this tenant needs and nobody here can do. */
export interface Lack {
  readonly tenant: string
  readonly missing: readonly string[]
}

interface Left extends Lack {
  readonly until: number
  readonly pauseMs: number
}

const longestMs = 60_000
/** A claim names them all; beyond this the one that waits longest is forgotten, and claimed once more. */
const most = 1_000

export function createElsewhere({
  clock,
  firstMs,
  knows,
}: {
  readonly clock: Pick<Clock, 'now'>
  /** The first while. */
  readonly firstMs: number
  readonly knows: (capabilityId: string, tenant: string) => boolean
}): Elsewhere {
  const left = new Map<string, Left>()
  return {
    put(runId, { tenant, missing }, timerAt = Number.POSITIVE_INFINITY) {
      const before = left.get(runId)
      const pauseMs = Math.min(before === undefined ? firstMs : before.pauseMs * 2, longestMs)
      left.delete(runId)
      left.set(runId, { tenant, missing, pauseMs, until: Math.min(clock.now() + pauseMs, timerAt) })
      const [oldest] = left.keys()
      if (left.size > most && oldest !== undefined) left.delete(oldest)
    },
    forget: (runId) => void left.delete(runId),
    ids() {
      if (left.size === 0) return []
      const now = clock.now()
      return [...left].flatMap(([runId, { until, tenant, missing }]) =>
        until > now && !missing.some((capabilityId) => knows(capabilityId, tenant)) ? [runId] : [],
      )
    },
  }
}
