/** Many histories, one after the other: what was seen, and the seeds that show something wrong. */
import { playHistory } from './oracle.ts'

export interface Failing {
  readonly seed: number
  readonly violations: readonly string[]
}

export interface Summary {
  seeds: number
  /** With the checks that only say how a run ends without faults. */
  histories: number
  crashes: number
  errors: number
  stalls: number
  events: number
  steps: number
  failing: Failing[]
}

export interface SeedOptions {
  readonly from: number
  readonly count: number
  /** Stop after so many seeds that fail. Default: the first. */
  readonly mostFailing?: number
  readonly onProgress?: (summary: Summary) => void
}

export async function runSeeds({ from, count, mostFailing = 1, onProgress }: SeedOptions): Promise<Summary> {
  const summary: Summary = {
    seeds: 0,
    histories: 0,
    crashes: 0,
    errors: 0,
    stalls: 0,
    events: 0,
    steps: 0,
    failing: [],
  }
  // An unhandled rejection ends a process: it is a violation like any other.
  let unhandled: unknown[] = []
  const collect = (cause: unknown) => unhandled.push(cause)
  process.on('unhandledRejection', collect)
  try {
    for (let seed = from; seed < from + count; seed++) {
      const history = await playHistory(seed)
      summary.seeds++
      summary.histories += history.histories
      for (const name of ['crashes', 'errors', 'stalls', 'events', 'steps'] as const)
        summary[name] += history[name]
      const violations = [...history.violations, ...unhandled.map((cause) => `unhandled rejection: ${cause}`)]
      unhandled = []
      if (violations.length > 0) summary.failing.push({ seed, violations })
      if (summary.failing.length >= mostFailing) break
      if (summary.seeds % 100 === 0) onProgress?.(summary)
    }
  } finally {
    process.off('unhandledRejection', collect)
  }
  return summary
}
