/**
 * The same load on PostgreSQL, which is started for it. With `--against` the folder of another built version of the package
 * takes turns with this one, so that both have the same machine. The last row is what the machine allows: a server that does
 * nothing but keep and stream as many events.
 */
import { loadavg } from 'node:os'
import { resolve } from 'node:path'
import pg from 'pg'
import { start } from '../../scripts/postgres.mjs'
import { ms, table } from '../lib/table.mjs'
import { ownRoot } from '../servers/start.mjs'
import { compare, measureLoad } from './load.mjs'

const concurrent = 500
const warmUp = 300

export async function postgres({ quick, against }) {
  const [busy] = loadavg()
  const cluster = await start()
  const admin = new pg.Client(cluster.url)
  await admin.connect()
  const versions = {
    ...(against !== undefined && { against: { root: resolve(against) } }),
    own: { root: ownRoot },
    least: { program: 'least.mjs' },
  }
  const turns = Object.fromEntries(Object.keys(versions).map((name) => [name, []]))
  try {
    for (let turn = 0; turn < (against === undefined || quick ? 1 : 3); turn++) {
      for (const [name, server] of Object.entries(versions))
        turns[name].push(await measureTurn({ server, cluster, admin, quick, database: `${name}_${turn}` }))
    }
  } finally {
    await admin.end()
    cluster.stop()
  }
  return { busy, concurrent, turns }
}

/** Measures one version on an empty database. */
async function measureTurn({ server, cluster, admin, quick, database }) {
  await admin.query(`create database ${database} encoding 'UTF8' template template0`)
  const address = new URL(cluster.url)
  address.pathname = `/${database}`
  const [row] = await measureLoad({
    server: { ...server, address: address.href },
    warmUp,
    // Long enough for several renewals of leases.
    steps: [{ concurrent, seconds: quick ? 15 : 30 }],
  })
  // Counted a moment after the fact.
  await new Promise((resolve) => setTimeout(resolve, 1_500))
  const { rows } = await admin.query(
    'select xact_commit::float8 as commits, deadlocks::float8 as deadlocks from pg_stat_database where datname = $1',
    [database],
  )
  return { ...row, deadlocks: rows[0].deadlocks, commitsPerRun: rows[0].commits / (row.runs + warmUp) }
}

export function showPostgres({ busy, concurrent: clients, turns }) {
  const names = { against: 'the other version', own: 'this version', least: 'the least server' }
  const both = ({ p50, p99 }) => `${ms(p50)} / ${ms(p99)}`
  const figures = table(
    [
      `${clients} at once, turns in order`,
      'runs/s',
      'accepted (p50 / p99)',
      'run (p50 / p99)',
      'processor per run',
      'transactions per run',
      'deadlocks',
      'refused, came back',
      'failed',
      'gaps',
      'unfinished',
    ],
    Object.entries(turns).flatMap(([name, rows]) =>
      rows.map((row) => [
        names[name],
        row.runsPerSecond.toFixed(0),
        both(row.accept),
        both(row.run),
        ms(row.processorMs),
        row.commitsPerRun.toFixed(1),
        row.deadlocks,
        row.shed,
        row.failed,
        row.gaps,
        row.unfinished,
      ]),
    ),
  )
  const ratio = turns.against && `\n\n${compare(turns)}`
  return `Load average of the machine before: ${busy.toFixed(1)}.\n\n${figures}${ratio ?? ''}`
}
