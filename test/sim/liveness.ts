/**
 * Every promise that a process gives to a caller, and whether it is kept in time: by the deadline that the engine states, at
 * all times; soon after the store has answered, once nothing goes wrong; and at once where only one answer was awaited. What a
 * process that has died has promised is not expected.
 */
import type { FaultRates } from './faults.ts'
import type { Ledger } from './ledger.ts'
import type { Life } from './life.ts'
import type { Scenario } from './scenario.ts'
import type { World } from './world.ts'

interface Promised {
  readonly what: string
  readonly runId: string
  readonly life: Life
  readonly at: number
  settledAt?: number
}

export interface Liveness {
  /** A call that only the store can delay. Returns the same promise. */
  expect<T>(
    call: { readonly life: Life; readonly what: string; readonly runId: string },
    answer: Promise<T>,
  ): Promise<T>
  /** The store has answered the creation of a run: a start of this process knows how it ends. */
  created(life: Life, runId: string): void
  /** The process has closed its engine: no start is left without an answer. */
  closed(life: Life): void
  /** Whether a promise is open that is still to be kept. */
  isOwed(): boolean
  /** Promises that were not kept, or not in time. */
  check(): string[]
}

/** What the engine allows the store beyond a lease, before it rejects a call. */
const marginMs = 5_000
/** Timers come late, and a process that wakes takes what has waited for it one after the other. */
const slackMs = 50

export function createLiveness(
  world: World,
  {
    scenario,
    rates,
    ledger,
  }: { readonly scenario: Scenario; readonly rates: FaultRates; readonly ledger: Ledger },
): Liveness {
  const { leaseMs, pollMs, latencyMs } = scenario
  const calmFrom = world.now + rates.until + (rates.until > 0 ? 4 * leaseMs + 2_000 : 0)
  const promises = new Set<Promised>()
  const broken: string[] = []

  /** When the promise has to be kept at the latest; never, as long as what it waits for may take its time. */
  const dueAt = ({ what, runId, life, at }: Promised): number => {
    const calm = Math.max(at, calmFrom, life.asleepUntil)
    // A few calls of the store there and back, and one that is under way already.
    const calls = 12 * latencyMs + 500
    if (what !== 'result')
      return Math.min(Math.max(at + leaseMs + marginMs, life.asleepUntil) + slackMs, calm + calls)
    const end = ledger.journals.get(runId)?.at(-1)
    if (end?.type !== 'complete') return Number.POSITIVE_INFINITY
    return Math.max(calm, end.at + life.skewMs) + pollMs + calls + leaseMs
  }
  const isLate = (promise: Promised) => (promise.settledAt ?? world.now) > dueAt(promise)
  const describe = ({ what, runId, life, at, settledAt }: Promised) =>
    `liveness: ${life.process} ${settledAt === undefined ? 'has not answered' : `took ${settledAt - at} ms for`} ${what} of ${runId}`

  /** Answers of the store to creations, and starts that have settled, by process and run. */
  const creations = new Map<string, { answers: number; settled: number }>()
  const creationsOf = (life: Life, runId: string) => {
    const key = `${life.nth} ${runId}`
    const found = creations.get(key) ?? { answers: 0, settled: 0 }
    creations.set(key, found)
    return found
  }

  return {
    expect({ life, what, runId }, answer) {
      const promise: Promised = { what, runId, life, at: world.now }
      promises.add(promise)
      const settle = () => {
        promise.settledAt = world.now
        promises.delete(promise)
        if (what === 'start') creationsOf(life, runId).settled++
        if (isLate(promise)) broken.push(describe(promise))
      }
      answer.then(settle, settle)
      return answer
    },
    created(life, runId) {
      const found = creationsOf(life, runId)
      const expected = ++found.answers
      world.after(0, () => {
        if (found.settled < expected)
          broken.push(
            `liveness: the store answered ${life.process}, which did not settle the start of ${runId}`,
          )
      })
    },
    closed(life) {
      for (const promise of promises)
        if (promise.life === life && promise.what === 'start')
          broken.push(`${describe(promise)} and has closed`)
    },
    isOwed: () => [...promises].some((promise) => promise.life.alive && Number.isFinite(dueAt(promise))),
    check() {
      const late = [...promises].filter((promise) => promise.life.alive && isLate(promise))
      return [...broken, ...late.map(describe)]
    },
  }
}
