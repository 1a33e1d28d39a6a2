/** The processes: engines of production code, each on its own view of one store, dying and coming back. */
import { createMemoryStore } from '../../src/adapters/stores/memory/memory.ts'
import type { Planner } from '../../src/domain/ports/planner.ts'
import type { Store } from '../../src/domain/ports/store.ts'
import { createEngine, type Engine } from '../../src/engine/engine.ts'
import { catalog } from './catalog.ts'
import { extended, shortened } from './drafts.ts'
import { createFaults, type FaultRates, type Faults } from './faults.ts'
import { createNews, faultyStore, type StoreContext } from './faulty-store.ts'
import { createFleetPermits, type FleetPermits } from './fleet-permits.ts'
import { createLedger, type Ledger } from './ledger.ts'
import { createLifeClock, deliver, type Life } from './life.ts'
import { createLiveness, type Liveness } from './liveness.ts'
import { dispatchersFor } from './outside.ts'
import { randomFor } from './random.ts'
import type { Scenario } from './scenario.ts'
import type { World } from './world.ts'

export interface Running {
  readonly life: Life
  readonly engine: Engine
}

export interface Cluster {
  /** The store itself, for observers that see everything. */
  readonly real: Store
  readonly ledger: Ledger
  readonly faults: Faults
  readonly liveness: Liveness
  readonly permits: FleetPermits
  /** Processes that were born after the first ones, as they begin. */
  readonly reborn: ((running: Running) => void)[]
  /** Who is alive and awake. */
  awake(): readonly Running[]
  alive(): readonly Running[]
  /** Why engines gave a run up; a fault of the store is expected, anything else is not. */
  readonly crashes: { readonly runId: string; readonly cause: unknown }[]
}

export function createCluster(world: World, scenario: Scenario, rates: FaultRates): Cluster {
  const began = world.now
  const real = createMemoryStore({ clock: { now: () => world.now } })
  const ledger = createLedger(() => world.now)
  const faults = createFaults(rates, world.random, () => world.now - began)
  const liveness = createLiveness(world, { scenario, rates, ledger })
  const permits = createFleetPermits(world, { scenario, rates })
  const crashes: Cluster['crashes'] = []
  const reborn: Cluster['reborn'] = []
  const processes: (Running | undefined)[] = Array.from({ length: scenario.processes }, () => undefined)
  /** How many new plans were drafted for each run, by whichever life. */
  const replans = new Map<string, number>()
  let lives = 0

  const store: StoreContext = {
    world,
    real,
    ledger,
    faults,
    liveness,
    permits,
    news: createNews(world, rates.deaf),
    serialised: scenario.serialised,
    latencyMs: scenario.latencyMs,
    longestMs: 3 * scenario.leaseMs,
    crash: (life) => crash(life),
  }
  const outside = { seed: scenario.seed, world, ledger, rates: scenario.answers, mailbox: new Map(), permits }

  const bear = (index: number) => {
    const life: Life = {
      process: `p${index}`,
      nth: ++lives,
      alive: true,
      retiring: false,
      asleepUntil: 0,
      skewMs: scenario.skews[index] ?? 0,
    }
    const engine = createEngine({
      store: faultyStore(store, life),
      catalog,
      dispatchers: dispatchersFor(outside, life),
      planner: plannerFor(world, life, { scenario, replans }),
      clock: createLifeClock(world, life),
      random: () => world.random.next(),
      newId: () => `id-${life.nth}-${world.steps}`,
      owner: scenario.sameOwner ? life.process : `${life.process}.${life.nth}`,
      leaseMs: scenario.leaseMs,
      pollMs: scenario.pollMs,
      askMs: scenario.askMs,
      limits: { process: scenario.slots, ...scenario.limits },
      onCrash: (runId, cause) => {
        if (life.alive) crashes.push({ runId, cause })
      },
    })
    const running = { life, engine }
    processes[index] = running
    engine.open()
    for (const listener of reborn) listener(running)
  }

  const crash = (life: Life) => {
    if (!life.alive) return
    life.alive = false
    faults.counts.crashes++
    const index = Number(life.process.slice(1))
    const rest = world.random.pick([10, 500, 2 * scenario.leaseMs])
    world.after(world.random.int(rest), () => bear(index))
  }

  /** A process is asked to end, as for a new version: it releases its runs, and another replaces it. */
  const retire = async ({ life, engine }: Running) => {
    life.retiring = true
    await engine.close({ graceMs: world.random.int(2000) })
    if (!life.alive) return
    life.alive = false
    world.after(0, () => liveness.closed(life))
    if (engine.active > 0) ledger.faults.push(`${life.process} ended with ${engine.active} runs`)
    world.after(world.random.int(500), () => bear(Number(life.process.slice(1))))
  }

  /** Deaths and sleeps at moments that have nothing to do with a call. */
  const disturb = () => {
    if (!faults.active) return
    world.after(1 + world.random.int(1000), disturb)
    if (!world.random.chance(rates.stalls)) return
    const running = processes[world.random.int(processes.length)]
    if (!running?.life.alive || running.life.retiring) return
    if (world.random.chance(0.25)) return void retire(running)
    if (world.random.chance(0.3) && faults.mayCrash()) return crash(running.life)
    faults.counts.stalls++
    // One that sleeps already does not wake earlier for it.
    const { life } = running
    life.asleepUntil = Math.max(life.asleepUntil, world.now + world.random.int(3 * scenario.leaseMs))
  }

  for (let index = 0; index < scenario.processes; index++) bear(index)
  if (rates.stalls > 0) disturb()
  const alive = () => processes.filter((running) => running?.life.alive === true) as Running[]
  return {
    real,
    ledger,
    faults,
    liveness,
    permits,
    reborn,
    crashes,
    alive,
    awake: () => alive().filter(({ life }) => life.asleepUntil <= world.now && !life.retiring),
  }
}

/**
 * Takes its time, and fails at first where the seed says so. A new plan has one node more; where the seed says so, every
 * other one is without a node that the next has again.
 */
function plannerFor(
  world: World,
  life: Life,
  { scenario, replans }: { readonly scenario: Scenario; readonly replans: Map<string, number> },
): Planner {
  return {
    name: 'scripted',
    draft: ({ envelope, phase, attempt, completed }) =>
      new Promise((resolve, reject) => {
        const run = scenario.runs.find((candidate) => candidate.envelope.objective === envelope.objective)!
        const random = randomFor(scenario.seed, 'planner', run.runId, phase, attempt)
        const fails = attempt < 3 && random.chance(scenario.plannerFails)
        deliver(world, life, random.pick([0, 10, 400]), () => {
          if (fails) return reject(new Error('No idea'))
          if (phase !== 'replan') return resolve(run.draft)
          const nth = (replans.get(run.runId) ?? 0) + 1
          replans.set(run.runId, nth)
          const without = nth % 2 === 1 && randomFor(scenario.seed, 'without', run.runId).chance(0.5)
          const done = new Set(completed.map(({ id }) => id))
          resolve(without ? shortened(run.draft, done) : extended(run.draft))
        })
      }),
  }
}
