/**
 * Kills parts of a whole installation at random while runs are started, reviewed and completed: workers (SIGKILL, and SIGSTOP
 * until their lease is over), the API, PostgreSQL and the nodes of Restate. In the end every run that was acknowledged must be
 * complete, every node and every ask settled once, and every journal in order.
 */
import { openPostgresStore } from '../../src/adapters/stores/postgres/postgres.ts'
import type { JournalEvent, Store } from '../../src/index.ts'
import { Random } from '../random.ts'
import { loadAsks, loadEvents, verifyHistory } from '../seams/engine.ts'
import { type Api, type Fleet, type QueueMode, startFleet, type Worker } from './fleet.ts'
import { createLoad, type Load } from './load.ts'

export interface FleetCampaignOptions {
  readonly root: string
  readonly queue: QueueMode
  readonly kills: number
  readonly workers: number
  /** Nodes of Restate. */
  readonly nodes: number
  readonly seed: number
  readonly leaseMs: number
  readonly onKill?: (done: number) => void
}

const targets = ['worker', 'worker', 'worker', 'worker', 'frozen', 'api', 'restate', 'postgres'] as const
export type Target = (typeof targets)[number]

export interface FleetCampaignResult {
  readonly queue: QueueMode
  readonly seed: number
  readonly workers: number
  readonly nodes: number
  readonly leaseMs: number
  readonly kills: Readonly<Record<Target, number>>
  readonly runs: number
  /** Runs that were acknowledged and are not complete. */
  readonly lost: number
  /** Nodes and runs that completed more than once. */
  readonly doubled: number
  /** Asks with two accepted replies. */
  readonly doubleReplies: number
  /**
   * From the death of a worker to the next event of the runs it was executing, while nothing else was down that they need:
   * on Restate any other part, on leases PostgreSQL when the lease ended.
   */
  readonly pickUpMs: Quantiles
  /** The same for all of these runs, also if other parts were killed meanwhile. */
  readonly anyPickUpMs: Quantiles
  /** Runs that others took from frozen workers, as these found out when they woke up. */
  readonly takenFromFrozen: number
  readonly violations: readonly string[]
}

interface Quantiles {
  readonly count: number
  readonly p50: number
  readonly p99: number
  readonly most: number
}

interface Death {
  readonly target: Target
  readonly at: number
  /** Of a worker. */
  readonly pid?: number
}

/** Between two kills, in milliseconds. */
const pause = { least: 1_000, most: 2_500 } as const
const drainMs = 180_000
/** How long a part that was killed is away. */
const restartMs = 1_000

export async function runFleetCampaign(options: FleetCampaignOptions): Promise<FleetCampaignResult> {
  const fleet = await startFleet({ ...options, nodes: options.queue === 'local' ? 0 : options.nodes })
  const store = await openPostgresStore({ url: fleet.postgres.url })
  try {
    const crew = await createCrew(fleet, options)
    const load = createLoad({ api: () => crew.api, store, seed: options.seed })
    const deaths = await killAtRandom(crew, options)
    const unfinished = await load.finish(drainMs)
    const takenFromFrozen = await crew.thaw()
    return { ...(await judge({ store, fleet, load, deaths, unfinished, options })), takenFromFrozen }
  } finally {
    await store.close()
    await fleet.close()
  }
}

type Crew = Awaited<ReturnType<typeof createCrew>>

/** The processes that are alive, and how each kind of them dies and comes back. */
async function createCrew(fleet: Fleet, { queue, workers: size, leaseMs }: FleetCampaignOptions) {
  const workers: Worker[] = []
  for (let count = 0; count < size; count++) workers.push(await fleet.startWorker())
  let api: Api = await fleet.startApi()
  const pending: Promise<unknown>[] = []
  const frozen: Promise<number>[] = []
  const replace = (worker: Worker) => {
    workers.splice(workers.indexOf(worker), 1)
    pending.push(fleet.startWorker().then((next) => workers.push(next)))
  }
  return {
    get api() {
      return api
    },
    /** Returns when this target died, and its process; nothing if the installation has no such part. */
    async kill(target: Target, random: Random): Promise<Omit<Death, 'target'> | undefined> {
      await Promise.all(pending.splice(0))
      const at = Date.now()
      if (target === 'api') {
        api.kill('SIGKILL')
        await api.ended
        pending.push(
          fleet.startApi().then((next) => {
            api = next
          }),
        )
        return { at }
      }
      if (target === 'postgres') {
        fleet.postgres.restartImmediate()
        return { at }
      }
      if (target === 'restate') {
        if (queue === 'local') return undefined
        const node = random.pick(fleet.restate)
        await node.kill()
        pending.push(node.restart())
        return { at }
      }
      const victim = random.pick(workers)
      if (target === 'worker') {
        victim.kill('SIGKILL')
        replace(victim)
        return { at, pid: victim.pid }
      }
      victim.kill('SIGSTOP')
      fleet.balancer.remove(victim.port)
      fleet.balancer.cut(victim.port)
      replace(victim)
      frozen.push(
        new Promise((resolve) => setTimeout(resolve, leaseMs + 2_000)).then(async () => {
          victim.kill('SIGCONT')
          victim.kill('SIGTERM')
          await victim.ended
          return victim.lines.at(-1)?.lost ?? 0
        }),
      )
      return { at }
    },
    /** Waits until the frozen workers have woken up, and found out that they lost their runs. */
    thaw: async () => (await Promise.all(frozen)).reduce((sum, lost) => sum + lost, 0),
  }
}

async function killAtRandom(
  crew: Crew,
  { kills, seed, onKill }: FleetCampaignOptions,
): Promise<readonly Death[]> {
  const random = new Random(seed)
  const deaths: Death[] = []
  while (deaths.length < kills) {
    await new Promise((resolve) => setTimeout(resolve, random.int(pause.least, pause.most)))
    const target = random.pick(targets)
    const died = await crew.kill(target, random)
    if (died === undefined) continue
    deaths.push({ target, ...died })
    onKill?.(deaths.length)
  }
  return deaths
}

interface Evidence {
  readonly store: Store
  readonly fleet: Fleet
  readonly load: Load
  readonly deaths: readonly Death[]
  readonly unfinished: readonly string[]
  readonly options: FleetCampaignOptions
}

async function judge({ store, fleet, load, deaths, unfinished, options }: Evidence) {
  const violations = unfinished.map((runId) => `${runId}: it has not completed`)
  const journals = new Map<string, readonly JournalEvent[]>()
  let doubled = 0
  for (const runId of load.started) {
    const events = await loadEvents(store, runId)
    const head = await store.head(runId)
    const [audit, asks] = [await store.audit(runId), await loadAsks(store, runId)]
    for (const { message } of verifyHistory(events, { ...(head && { head }), audit, asks }))
      violations.push(`${runId}: ${message}`)
    journals.set(runId, events)
    doubled += countDoubled(events)
  }
  const doubleReplies = [...load.accepted.values()].filter((count) => count > 1).length
  const pickUps = findPickUps({ fleet, journals, deaths, queue: options.queue })
  const kills = Object.fromEntries(
    targets.map((target) => [target, deaths.filter((death) => death.target === target).length]),
  ) as FleetCampaignResult['kills']
  const { queue, seed, workers, nodes, leaseMs } = options
  return {
    ...{ queue, seed, workers, leaseMs, kills, doubled, doubleReplies, violations },
    nodes: queue === 'local' ? 0 : nodes,
    runs: load.started.size,
    lost: unfinished.length,
    pickUpMs: quantiles(pickUps.flatMap(({ ms, isDisturbed }) => (isDisturbed ? [] : [ms]))),
    anyPickUpMs: quantiles(pickUps.map(({ ms }) => ms)),
  }
}

/** Nodes that completed twice, and ends after the first. */
function countDoubled(events: readonly JournalEvent[]): number {
  const names = events.flatMap(({ type, nodeId = '' }) =>
    type === 'node_complete' || type === 'complete' ? [`${type} ${nodeId}`] : [],
  )
  return names.length - new Set(names).size
}

/** The runs in whose `slow` step a worker was killed, and how long the next event took. */
function findPickUps({
  fleet,
  journals,
  deaths,
  queue,
}: {
  readonly fleet: Fleet
  readonly journals: ReadonlyMap<string, readonly JournalEvent[]>
  readonly deaths: readonly Death[]
  readonly queue: QueueMode
}) {
  // Others die while a lease runs out, and do not delay its end.
  const disturbs = (other: Death, at: number, until: number) =>
    other.at < until &&
    (queue === 'restate'
      ? other.at > at - restartMs
      : other.target === 'postgres' && other.at > until - restartMs)
  const calls = fleet.effects().filter(({ said }) => said === 'slow')
  return deaths.flatMap(({ pid, at }, nth) =>
    calls.flatMap((call) => {
      if (pid === undefined || call.pid !== pid) return []
      const events = journals.get(call.runId) ?? []
      const end = events.find(
        (event) =>
          event.type === 'attempt_end' &&
          event.nodeId === call.nodeId &&
          event.payload.attempt === call.attempt,
      )
      // It ended before the kill, and was not in flight.
      if (end !== undefined && end.at < at) return []
      const next = events.find((event) => event.at >= at)
      if (next === undefined) return []
      const isDisturbed = deaths.some((other, index) => index !== nth && disturbs(other, at, next.at))
      return [{ ms: next.at - at, isDisturbed }]
    }),
  )
}

function quantiles(values: readonly number[]): Quantiles {
  const sorted = [...values].sort((one, other) => one - other)
  const at = (part: number) =>
    Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0)
  return { count: sorted.length, p50: at(0.5), p99: at(0.99), most: at(1) }
}

export function isFleetClean({ lost, doubled, doubleReplies, violations }: FleetCampaignResult): boolean {
  return lost + doubled + doubleReplies + violations.length === 0
}

const show = ({ count, p50, p99, most }: Quantiles) =>
  `p50 ${p50} ms, p99 ${p99} ms, most ${most} ms (n=${count})`

export function describeFleetCampaign(result: FleetCampaignResult): string {
  const { queue, seed, workers, nodes, kills, runs, pickUpMs, anyPickUpMs } = result
  const total = Object.values(kills).reduce((sum, count) => sum + count, 0)
  const each = Object.entries(kills).flatMap(([target, count]) => (count > 0 ? [`${count} ${target}`] : []))
  return [
    `queue ${queue}, ${workers} workers${nodes > 0 ? `, ${nodes} nodes of Restate` : ''}, PostgreSQL: ${total} kills (${each.join(', ')}) over ${runs} runs (seed ${seed})`,
    `lost ${result.lost}, doubled completions ${result.doubled}, double replies ${result.doubleReplies}, runs taken from frozen workers ${result.takenFromFrozen}`,
    `pick-up after the kill of a worker: ${show(pickUpMs)}; also while something else was down: ${show(anyPickUpMs)} (lease ${result.leaseMs} ms)`,
    ...result.violations.map((message) => `VIOLATION ${message}`),
  ].join('\n')
}
