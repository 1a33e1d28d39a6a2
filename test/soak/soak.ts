/**
 * Uses an installation for long, under faults and with readers that stall, and measures whether its processes grow: one server on
 * SQLite, or an API and workers on PostgreSQL. A share of the calls fails and of the streams is cut; on PostgreSQL connections
 * to the database are cut, too.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import pg from 'pg'
import { type Cluster, start as startPostgres } from '../../scripts/postgres.mjs'
import { Random } from '../random.ts'
import { bodies, createClients } from './clients.ts'

export interface SoakOptions {
  /** The folder of the repository. */
  readonly root: string
  readonly store: 'sqlite' | 'postgres'
  /** Processes that execute runs, on PostgreSQL. */
  readonly workers: number
  readonly minutes: number
  /** Share of the calls that fail and of the streams that are cut. */
  readonly faults: number
  /** At the least, however short it is. */
  readonly fewestRuns: number
  readonly onSample?: (sample: Sample) => void
}

/** What a process says about itself, in bytes and counts. */
export interface Load {
  readonly heap: number
  /** Heap and buffers. */
  readonly held: number
  readonly resident: number
  /** Entries of all maps and sets. */
  readonly entries: number
  /** The largest of them, by their size and first entry. */
  readonly largest: readonly string[]
  readonly handles: number
  readonly streams: number
  readonly active: number
  readonly sockets: number
  readonly timers: number
}

export interface Sample {
  /** Milliseconds since the begin. */
  readonly at: number
  /** Runs begun until then. */
  readonly runs: number
  /** By name of the process. */
  readonly loads: Readonly<Record<string, Load>>
}

/** Growth after the warm-up. */
export interface Growth {
  readonly process: string
  readonly residentPerMinute: number
  readonly heldPerMinute: number
  readonly handlesPerMinute: number
  /** Absent: there were too few runs to say. */
  readonly entriesPerRun?: number
  readonly isBounded: boolean
}

export interface SoakResult {
  readonly options: Omit<SoakOptions, 'onSample' | 'root'>
  readonly counts: ReturnType<typeof createClients>['counts']
  readonly databaseCuts: number
  /** Gaps and repeats of streams. */
  readonly wrong: readonly string[]
  readonly samples: readonly Sample[]
  readonly growth: readonly Growth[]
  /** What did not return to where it was before, after all clients had gone. */
  readonly left: readonly string[]
}

const concurrent = 10
const stalledReaders = 20
const warmUp = 1 / 3
const mb = 1024 * 1024
const limits = { bytesPerMinute: mb, handlesPerMinute: 2, entriesPerRun: 0.05 } as const
/** More than the caches of a process keep. */
const cachedRuns = 5_000
const fewestSamples = 10
const databaseCutMs = 5_000
const settleMs = 30_000

export async function runSoak(options: SoakOptions): Promise<SoakResult> {
  const { store, workers, minutes, faults, fewestRuns } = options
  const installation = await startInstallation(options)
  const clients = createClients(installation.url, { faults, isTolerant: store === 'postgres' })
  try {
    // Not before the first runs: what is made once and for good is not growth.
    await clients.follow(bodies.small, new Random(0))
    const largeRun = await clients.follow(bodies.large, new Random(0))
    const before = await installation.measure()
    const stalled = Array.from({ length: stalledReaders }, () => stall(installation.url, largeRun))
    await waitUntil(async () => sum(await installation.measure(), 'streams') === stalledReaders)

    const begun = Date.now()
    const until = begun + minutes * 60_000
    const isOver = () => Date.now() >= until && clients.counts.runs >= fewestRuns
    const samples: Sample[] = []
    const sample = async () => {
      const loads = await installation.measure()
      const taken = { at: Date.now() - begun, runs: clients.counts.runs, loads }
      samples.push(taken)
      options.onSample?.(taken)
    }
    const observe = async () => {
      const pauseMs = Math.max(500, (minutes * 60_000) / 80)
      while (!isOver()) {
        await new Promise((resolve) => setTimeout(resolve, pauseMs))
        await sample()
      }
    }
    const use = async (nth: number) => {
      const random = new Random(19 + nth)
      while (!isOver()) await clients.follow(bodies.small, random)
    }
    const cuts = installation.cutConnections(isOver)
    await Promise.all([observe(), ...Array.from({ length: concurrent }, (_, nth) => use(nth))])
    const databaseCuts = await cuts

    for (const socket of stalled) socket.destroy()
    clients.close()
    const left = await findLeft(installation, before)
    left.push(...(await installation.stop()))
    return {
      options: { store, workers: store === 'sqlite' ? 0 : workers, minutes, faults, fewestRuns },
      counts: clients.counts,
      databaseCuts,
      wrong: clients.wrong,
      samples,
      growth: measureGrowth(samples, minutes),
      left,
    }
  } finally {
    clients.close()
    installation.kill()
  }
}

/**
 * By least squares, over what comes after the warm-up. Entries are counted only after so many runs that the caches, which keep
 * some thousand runs, are full; before, they grow by a few per run.
 */
export function measureGrowth(samples: readonly Sample[], minutes: number): readonly Growth[] {
  const warm = samples.filter(({ at }) => at > minutes * 60_000 * warmUp)
  return Object.keys(warm[0]?.loads ?? {}).map((process) => {
    const perMinute = (of: (load: Load) => number) =>
      slope(warm.map(({ at, loads }) => ({ x: at / 60_000, y: of(loads[process] as Load) })))
    const full = warm.filter(({ runs }) => runs > cachedRuns)
    const isKnown = full.length >= fewestSamples
    const entriesPerRun = isKnown
      ? slope(full.map(({ runs, loads }) => ({ x: runs, y: (loads[process] as Load).entries })))
      : undefined
    const found = {
      residentPerMinute: perMinute(({ resident }) => resident),
      heldPerMinute: perMinute(({ held }) => held),
      handlesPerMinute: perMinute(({ handles }) => handles),
      ...(entriesPerRun !== undefined && { entriesPerRun }),
    }
    const isBounded =
      found.residentPerMinute < limits.bytesPerMinute &&
      found.heldPerMinute < limits.bytesPerMinute &&
      found.handlesPerMinute < limits.handlesPerMinute &&
      (entriesPerRun ?? 0) < limits.entriesPerRun
    return { process, ...found, isBounded }
  })
}

function slope(points: readonly { readonly x: number; readonly y: number }[]): number {
  const mean = (values: readonly number[]) => values.reduce((all, value) => all + value, 0) / values.length
  const [x, y] = [mean(points.map((one) => one.x)), mean(points.map((one) => one.y))]
  const over = points.reduce((all, one) => all + (one.x - x) * (one.y - y), 0)
  const under = points.reduce((all, one) => all + (one.x - x) ** 2, 0)
  return under === 0 ? 0 : over / under
}

const sum = (loads: Sample['loads'], name: Exclude<keyof Load, 'largest'>) =>
  Object.values(loads).reduce((all, load) => all + load[name], 0)

type Installation = Awaited<ReturnType<typeof startInstallation>>

async function startInstallation({ root, store, workers, faults }: SoakOptions) {
  const folder = mkdtempSync(join(tmpdir(), 'proviso-soak-'))
  const cluster = store === 'postgres' ? await startPostgres() : undefined
  const address = cluster?.url ?? `sqlite:${join(folder, 'soak.db')}`
  const start = (role: string) => startProcess(root, [role, address, String(faults)])
  // The first one makes the tables.
  const first = await start(cluster ? 'api' : 'serve')
  const others = cluster ? await Promise.all(Array.from({ length: workers }, () => start('worker'))) : []
  const names = [cluster ? 'api' : 'server', ...others.map((_, nth) => `worker ${nth + 1}`)]
  const all = [first, ...others]
  return {
    url: first.url,
    async measure(): Promise<Sample['loads']> {
      const loads = await Promise.all(all.map((each) => each.measure()))
      return Object.fromEntries(names.map((name, nth) => [name, loads[nth] as Load]))
    },
    cutConnections: (isOver: () => boolean) =>
      cluster ? cutConnections(cluster, isOver) : Promise.resolve(0),
    /** Returns the processes that did not end in order. */
    async stop(): Promise<readonly string[]> {
      const codes = await Promise.all(all.map((each) => each.stop()))
      return names.filter((_, nth) => codes[nth] !== 0).map((name) => `${name}: exit code`)
    },
    kill() {
      for (const each of all) each.kill()
      cluster?.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function startProcess(root: string, args: readonly string[]) {
  const program = join(root, 'test/soak/process.mjs')
  const child: ChildProcess = spawn(process.execPath, ['--expose-gc', program, ...args], {
    cwd: root,
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const { stdin, stdout } = child
  if (stdin === null || stdout === null) throw new Error('The process has no pipes')
  const lines = createInterface({ input: stdout })[Symbol.asyncIterator]()
  const url = String((await lines.next()).value)
  // One after the other, for answers come in the order of the questions.
  let asked: Promise<unknown> = Promise.resolve()
  return {
    url,
    measure(): Promise<Load> {
      const answer = asked.then(async () => {
        stdin.write('how are you?\n')
        return JSON.parse(String((await lines.next()).value)) as Load
      })
      asked = answer.catch(() => {})
      return answer
    },
    stop(): Promise<number | null> {
      stdin.end()
      return new Promise((resolve) => child.once('close', resolve))
    },
    kill: () => void child.kill('SIGKILL'),
  }
}

/** Ends a connection to the database now and then; returns how many. */
async function cutConnections(cluster: Cluster, isOver: () => boolean): Promise<number> {
  const client = new pg.Client(cluster.url)
  await client.connect()
  let cuts = 0
  while (!isOver()) {
    await new Promise((resolve) => setTimeout(resolve, databaseCutMs))
    const { rowCount } = await client.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where backend_type = 'client backend' and pid <> pg_backend_pid() order by random() limit 1`,
    )
    cuts += rowCount ?? 0
  }
  await client.end()
  return cuts
}

/** A reader that asks and never takes anything. */
function stall(url: string, runId: string): Socket {
  const { hostname, port, host } = new URL(url)
  const socket = connect(Number(port), hostname).pause()
  socket.write(
    `GET /api/v1/flex/runs/${runId}/events HTTP/1.1\r\nHost: ${host}\r\nAccept: text/event-stream\r\n\r\n`,
  )
  return socket
}

/** Waits until every process is as it was before its clients came; returns what is not. */
async function findLeft(installation: Installation, before: Sample['loads']): Promise<string[]> {
  const differences = async () => {
    const loads = await installation.measure()
    return Object.entries(loads).flatMap(([name, { streams, active, sockets, timers }]) => {
      const first = before[name] as Load
      // A pool may hold a few connections more than before the load.
      const spare = name === 'server' ? 0 : 8
      return [
        ...(streams > 0 ? [`${name}: ${streams} streams`] : []),
        ...(active > 0 ? [`${name}: ${active} active runs`] : []),
        ...(sockets > first.sockets + spare ? [`${name}: ${sockets} sockets, before ${first.sockets}`] : []),
        ...(timers > first.timers + spare ? [`${name}: ${timers} timers, before ${first.timers}`] : []),
      ]
    })
  }
  let left: string[] = []
  await waitUntil(async () => {
    left = await differences()
    return left.length === 0
  }).catch(() => {})
  return left
}

async function waitUntil(holds: () => Promise<boolean>): Promise<void> {
  const until = Date.now() + settleMs
  while (!(await holds())) {
    if (Date.now() > until) throw new Error('It takes too long')
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}
