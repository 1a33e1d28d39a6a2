/**
 * Throughput of 1, 2 and 4 worker processes on one PostgreSQL, and what a durable node costs whose
 * work is empty, in a plan of ten nodes. Carriers share the runs in their own way; a carrier is a row of `carriers`.
 */

import { loadavg } from 'node:os'
import pg from 'pg'
import { start } from '../../scripts/postgres.mjs'
import { nodeCount } from '../engines/dag.mjs'
import { familyMs, familyOf } from '../lib/processor-time.mjs'
import { openProcesses, startQueue } from '../lib/scale-processes.mjs'
import { ms, table, times } from '../lib/table.mjs'

/** How each carrier gets its runs to so many workers: the processes, and which of them are asked to run. */
const carriers = {
  leases: {
    title: 'Proviso, leases',
    processes: (workers) => ['api', ...Array(workers).fill('worker')],
    askers: 1,
  },
  restate: {
    title: 'Proviso, Restate 1.7',
    processes: (workers) => ['api', ...Array(workers).fill('worker')],
    askers: 1,
  },
  langgraph: {
    title: 'LangGraph 1.4.18, PostgresSaver 1.0.5',
    processes: (workers) => Array(workers).fill('langgraph'),
  },
}

const lanes = 100

/** A database of its own, so that one carrier does not find the rows of another. */
export async function createDatabase(cluster, name) {
  const admin = new pg.Client(cluster.url)
  await admin.connect()
  await admin.query(`create database ${name} encoding 'UTF8' template template0`)
  await admin.end()
  const address = new URL(cluster.url)
  address.pathname = `/${name}`
  return address.href
}

export async function scaleWorkers({ quick }) {
  const [busy] = loadavg()
  const counts = quick ? [1, 2] : [1, 2, 4]
  // Each of four processes has its part: long enough for the compilers of all.
  const runs = quick ? 300 : 2_000
  const cluster = await start()
  const rows = []
  try {
    // Carriers take turns at each size, so that all have the same machine.
    for (const workers of counts)
      for (const [name, carrier] of Object.entries(carriers))
        rows.push(await measure({ cluster, name, carrier, workers, runs, quick }))
  } finally {
    cluster.stop()
  }
  return { busy, runs, lanes, rows, storage: rows.find(({ name }) => name === 'leases')?.storage }
}

async function measure({ cluster, name, carrier, workers, runs, quick }) {
  const url = await createDatabase(cluster, `${name}_${workers}`)
  const queue = name === 'restate' ? await startQueue(workers) : undefined
  try {
    return await measureOpened({ url, queue, name, carrier, workers, runs, quick })
  } finally {
    await queue?.stop()
  }
}

async function measureOpened({ url, queue, name, carrier, workers, runs, quick }) {
  const { children, close } = await openProcesses(url, carrier.processes(workers), queue)
  const askers = children.slice(0, carrier.askers ?? workers)
  const ask = async (count) =>
    Promise.all(
      askers.map((child) =>
        child.request('run', {
          count: Math.ceil(count / askers.length),
          lanes: Math.ceil(lanes / askers.length),
        }),
      ),
    )
  const database = new pg.Client(url)
  await database.connect()
  const cpu = async () => {
    const usages = await Promise.all(children.map((child) => child.request('usage')))
    return usages.reduce((sum, { cpuMs }) => sum + cpuMs, 0)
  }
  const empty = await readStorage(database)
  // Compilers have done most of their work by then, everybody's alike.
  const warmUp = quick ? 100 : 2_000
  await ask(warmUp)
  const before = {
    server: await serverTime(database),
    queue: queue?.cpuMs(),
    cpu: await cpu(),
  }
  const began = performance.now()
  const answers = await ask(runs)
  const tookMs = performance.now() - began
  const after = {
    server: await serverTime(database),
    queue: queue?.cpuMs(),
    cpu: await cpu(),
  }
  await close()
  // Connections add to the counters of the database when they end; before, they may be ten seconds behind.
  const full = await readStorage(database)
  await database.end()
  const per = (key) => (full[key] - empty[key]) / (warmUp + runs)
  return {
    name,
    title: carrier.title,
    workers,
    runsPerSecond: (runs * 1000) / tookMs,
    overheadMs: tookMs / (runs * nodeCount),
    cpuMs: (after.cpu - before.cpu) / (runs * nodeCount),
    serverMs: (after.server - before.server) / runs,
    ...(queue && { queueMs: (after.queue - before.queue) / runs }),
    acceptP99: percentile(
      answers.flatMap(({ accepts }) => accepts.filter((each) => each !== undefined && each !== null)),
      0.99,
    ),
    storage: { bytes: per('bytes'), wal: per('wal'), commits: per('commits'), rows: per('rows') },
  }
}

/** Processor milliseconds of all processes of the database so far; not a number where there is no /proc. */
async function serverTime(database) {
  const { rows } = await database.query('select pg_backend_pid() as pid')
  return familyMs(familyOf(rows[0].pid))
}

/** Of the whole database: bytes of tables and indexes, bytes of the log, commits and rows written so far. */
async function readStorage(database) {
  // Counters are flushed a moment after the fact.
  await new Promise((resolve) => setTimeout(resolve, 1_500))
  const { rows } = await database.query(`select
    (select sum(pg_total_relation_size(relid))::float8 from pg_stat_user_tables) as bytes,
    (select sum(n_tup_ins)::float8 from pg_stat_user_tables) as rows,
    pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 as wal,
    (select xact_commit::float8 from pg_stat_database where datname = current_database()) as commits`)
  return rows[0]
}

export function percentile(values, part) {
  const sorted = [...values].sort((one, other) => one - other)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))]
}

export function showScaleWorkers({ busy, runs, lanes: atOnce, rows, storage }) {
  const peer = (workers) => rows.find((row) => row.name === 'langgraph' && row.workers === workers)
  const figures = table(
    [
      `${runs} runs of ${nodeCount} nodes, ${atOnce} at once`,
      'workers',
      'runs/s',
      'time per node',
      'processor per node',
      'of PostgreSQL per run',
      'of Restate per run',
      'LangGraph takes',
      'of processor',
      'accepted (p99)',
    ],
    rows.map(({ name, title, workers, runsPerSecond, overheadMs, cpuMs, serverMs, queueMs, acceptP99 }) => [
      title,
      workers,
      runsPerSecond.toFixed(0),
      ms(overheadMs),
      ms(cpuMs),
      ms(serverMs),
      queueMs === undefined ? '' : ms(queueMs),
      name === 'langgraph' ? '' : times(peer(workers)?.overheadMs, overheadMs),
      name === 'langgraph' ? '' : times(peer(workers)?.cpuMs, cpuMs),
      acceptP99 === undefined ? '–' : ms(acceptP99),
    ]),
  )
  const kb = (bytes) => `${(bytes / 1024).toFixed(1)} kB`
  const stored = `Storage per run with leases: ${kb(storage.bytes)} in tables and indexes, ${kb(storage.wal)} of write-ahead log, ${storage.rows.toFixed(0)} rows, ${storage.commits.toFixed(1)} commits.`
  return `Load average of the machine before: ${busy.toFixed(1)}.\n\n${figures}\n\n${stored}`
}
