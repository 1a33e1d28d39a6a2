/** One history: everything that a seed says happens, until every run is over; and what was wrong with it. */
import type { JournalEvent } from '../../src/domain/event.ts'
import { checkHistory } from './check.ts'
import { createCluster } from './cluster.ts'
import type { FaultRates } from './faults.ts'
import { createPeople } from './people.ts'
import { randomFor } from './random.ts'
import type { Scenario } from './scenario.ts'
import { createWorld } from './world.ts'

export interface History {
  readonly journals: ReadonlyMap<string, readonly JournalEvent[]>
  /** What must not be, in words; empty for a history that is as it should be. */
  readonly violations: readonly string[]
  readonly crashes: number
  readonly errors: number
  readonly stalls: number
  /** Events in all journals. */
  readonly events: number
  readonly steps: number
  /** Virtual milliseconds. */
  readonly duration: number
}

const epoch = 1_700_000_000_000
/** Longer than anything that a run may wait for on purpose: 30 s for an attempt that hangs. */
const longestSilence = 90_000
/** Far more than any run needs that gets somewhere. */
const mostSteps = 30_000

export async function simulate(scenario: Scenario, rates: FaultRates): Promise<History> {
  const world = createWorld(randomFor(scenario.seed, 'world', rates.until), epoch)
  const cluster = createCluster(world, scenario, rates)
  const people = createPeople(world, scenario, cluster)
  const { ledger } = cluster
  const violations: string[] = []

  const over = (runId: string) => ledger.journals.get(runId)?.at(-1)?.type === 'complete'
  const calmSince = () => Math.max(ledger.lastWrite, epoch + rates.until)
  const stuck = () => world.now - calmSince() > longestSilence || world.steps > mostSteps
  await world.run(() => scenario.runs.every(({ runId }) => over(runId)) || stuck(), Number.POSITIVE_INFINITY)
  const busy = () =>
    cluster.alive().map(({ life, engine }) => `${life.process} ${engine.active}/${engine.attempts}`)
  for (const { runId } of scenario.runs)
    if (!over(runId))
      violations.push(`stuck: ${runId} is not over (runs/attempts here: ${busy().join(', ')})`)
  people.leave()

  const calm = () => cluster.alive().every(({ engine }) => engine.active === 0 && engine.attempts === 0)
  const allThere = () =>
    cluster.alive().length === scenario.processes && cluster.awake().length === scenario.processes
  const settled = await world.run(() => allThere() && calm(), world.now + 4 * scenario.leaseMs + 10_000)
  if (!settled && violations.length === 0)
    for (const { life, engine } of cluster.alive())
      if (engine.active > 0 || engine.attempts > 0)
        violations.push(
          `leak: ${life.process} still holds ${engine.active} runs and ${engine.attempts} attempts`,
        )
  // What is owed is waited for, also by a store that has not answered yet.
  const { liveness } = cluster
  if (violations.length === 0)
    await world.run(() => !liveness.isOwed(), world.now + 3 * scenario.leaseMs + 15_000)
  violations.push(...liveness.check(), ...cluster.permits.check(ledger.journals))
  violations.push(...(await checkHistory({ scenario, rates, cluster, people, epoch })))
  let events = 0
  for (const journal of ledger.journals.values()) events += journal.length
  return {
    journals: ledger.journals,
    violations,
    ...cluster.faults.counts,
    events,
    steps: world.steps,
    duration: world.now - epoch,
  }
}
