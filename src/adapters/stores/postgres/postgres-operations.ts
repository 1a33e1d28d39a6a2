/** Operations for operators on a PostgreSQL database: inspection and backup. */

import type { Client } from 'pg'
import { ProvisoError, toErrorMessage } from '../../../base/errors/error.ts'
import type { Finding, StoreOperations } from '../shared/operation-types.ts'
import { backupPostgres, restorePostgres } from './backup-postgres.ts'
import { loadPg } from './load-pg.ts'
import { openPostgresStore } from './postgres.ts'

export const postgresOperations: StoreOperations = {
  backup: backupPostgres,
  restore: restorePostgres,
  inspect: inspectPostgres,
  async acceptLoss() {
    throw new ProvisoError('option/invalid', 'Cannot accept a loss: a PostgreSQL store keeps no anchor', {
      hint: 'Omit --accept-loss',
    })
  },
}

/** Settings without which acknowledged writes may be lost with the power. */
const durable = { fsync: 'on', full_page_writes: 'on' } as const
const toleratedMs = 1_000

/** Inspects a PostgreSQL store: connection, settings that durability depends on, write permission and the clocks. */
async function inspectPostgres(url: string): Promise<readonly Finding[]> {
  const pg = await loadPg()
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: 5_000,
    statement_timeout: 10_000,
  })
  client.on('error', () => {})
  try {
    await client.connect()
    return [
      await inspectServer(client, url),
      await inspectClock(client),
      await inspectSettings(client),
      await inspectWrite(client),
      {
        check: 'disk',
        status: 'warn',
        detail: 'unknown: PostgreSQL does not report the free space of its disk',
        hint: 'Watch the disk of the database server',
      },
      {
        check: 'anchor',
        status: 'warn',
        detail: 'a PostgreSQL store keeps no anchor',
        hint: 'Rely on the checksums and the archived log of the database server',
      },
    ]
  } catch (cause) {
    return [
      {
        check: 'store',
        status: 'fail',
        detail: toErrorMessage(cause),
        hint: 'Check the address, the password and that the server runs',
      },
    ]
  } finally {
    await client.end().catch(() => {})
  }
}

async function inspectServer(client: Client, url: string): Promise<Finding> {
  const { rows } = await client.query<{ version: string; standby: boolean }>(
    `select current_setting('server_version') as version, pg_is_in_recovery() as standby`,
  )
  const { version = '', standby = false } = rows[0] ?? {}
  const detail = `PostgreSQL ${version}`
  if (standby)
    return {
      check: 'store',
      status: 'fail',
      detail: `${detail} is a standby and cannot be written to`,
      hint: 'Pass the address of the primary server',
    }
  const problem = await findTableProblem(url)
  return problem ?? { check: 'store', status: 'ok', detail }
}

/** Opens the store as a reader would: tables of another version are refused. */
async function findTableProblem(url: string): Promise<Finding | undefined> {
  try {
    await (await openPostgresStore({ url, readOnly: true })).close()
    return undefined
  } catch (cause) {
    const isNewer = ProvisoError.is(cause) && cause.code === 'store/newer'
    const hint = isNewer ? cause.hint : 'Start a server or a worker of this version on it once'
    return { check: 'store', status: 'fail', detail: toErrorMessage(cause), hint }
  }
}

async function inspectClock(client: Client): Promise<Finding> {
  const before = Date.now()
  const { rows } = await client.query<{ now: number }>(
    'select (extract(epoch from clock_timestamp()) * 1000)::double precision as now',
  )
  const skewMs = Math.round((rows[0]?.now ?? 0) - (before + Date.now()) / 2)
  const detail = `the clock of the database differs by ${skewMs} ms`
  if (Math.abs(skewMs) <= toleratedMs) return { check: 'clock', status: 'ok', detail }
  return {
    check: 'clock',
    status: 'warn',
    detail,
    hint: 'Synchronise the clocks (NTP): leases use the database, tokens and logs of this machine its own clock',
  }
}

async function inspectSettings(client: Client): Promise<Finding> {
  const wrong: string[] = []
  for (const [name, value] of Object.entries(durable)) {
    const { rows } = await client.query<{ value: string }>('select current_setting($1) as value', [name])
    if (rows[0]?.value !== value) wrong.push(`${name} = ${rows[0]?.value}`)
  }
  if (wrong.length === 0)
    return { check: 'durability', status: 'ok', detail: 'fsync and full_page_writes are on' }
  return {
    check: 'durability',
    status: 'fail',
    detail: wrong.join(', '),
    hint: 'Set them to on: otherwise acknowledged runs may be lost with the power',
  }
}

async function inspectWrite(client: Client): Promise<Finding> {
  try {
    await client.query('begin')
    await client.query(`update flex_runs set claim_id = claim_id where run_id = ''`)
    await client.query('rollback')
    return { check: 'permissions', status: 'ok', detail: 'the tables can be written to' }
  } catch (cause) {
    return {
      check: 'permissions',
      status: 'fail',
      detail: toErrorMessage(cause),
      hint: 'Start a server on this database once to create the tables, or grant this user the right to change them',
    }
  }
}
