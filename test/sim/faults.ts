/** What goes wrong, and until when. The rates are per call of a store, so that every place between two calls is hit. */
import type { Random } from './random.ts'

export interface FaultRates {
  /** The process dies: before the call leaves, or after it took effect and before anybody hears of it. */
  readonly crash: number
  /** The call fails, having taken effect or not. */
  readonly error: number
  /** A process sleeps past its lease, or dies at a moment of its own. Per second of virtual time. */
  readonly stalls: number
  /** A request or its answer lingers on its way, perhaps for longer than a lease holds. */
  readonly linger: number
  /** A creation, a claim, an input from outside, or the answer to one, comes late, so that others overtake it. */
  readonly overtaken: number
  /** News of other processes does not arrive: they have to be looked for. */
  readonly deaf: number
  /** Milliseconds of virtual time after which nothing goes wrong any more. */
  readonly until: number
  readonly mostCrashes: number
}

export const noFaults: FaultRates = {
  crash: 0,
  error: 0,
  stalls: 0,
  linger: 0,
  overtaken: 0,
  deaf: 0,
  until: 0,
  mostCrashes: 0,
}

/** How one call of a store ends. */
export type Fate = 'well' | 'crash-before' | 'crash-after' | 'error-before' | 'error-after'

export interface Faults {
  fate(): Fate
  lingers(): boolean
  /** Asked of creations, claims and inputs from outside only. */
  isOvertaken(): boolean
  readonly active: boolean
  /** Counted where the fault is injected. */
  readonly counts: { crashes: number; errors: number; stalls: number }
  mayCrash(): boolean
}

export function createFaults(rates: FaultRates, random: Random, elapsed: () => number): Faults {
  const counts = { crashes: 0, errors: 0, stalls: 0 }
  const active = () => elapsed() < rates.until
  const mayCrash = () => active() && counts.crashes < rates.mostCrashes
  return {
    counts,
    get active() {
      return active()
    },
    mayCrash,
    lingers: () => active() && random.chance(rates.linger),
    isOvertaken: () => active() && rates.overtaken > 0 && random.chance(rates.overtaken),
    fate() {
      if (!active()) return 'well'
      const drawn = random.next()
      if (drawn < rates.crash) {
        if (!mayCrash()) return 'well'
        return random.chance(0.5) ? 'crash-before' : 'crash-after'
      }
      if (drawn >= rates.crash + rates.error) return 'well'
      counts.errors++
      return random.chance(0.5) ? 'error-before' : 'error-after'
    },
  }
}
