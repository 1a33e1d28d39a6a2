/** Inspects a SQLite file, its disk, its rights and the clock, without writing to the database. */
import { accessSync, constants, existsSync, statfsSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { ProvisoError, toErrorMessage } from '../../../../base/errors/error.ts'
import type { AnchorCheck } from '../../../../domain/ports/store.ts'
import type { Finding } from '../../shared/operation-types.ts'
import { openWith } from '../drivers/drivers.ts'
import { readAnchor, toAnchorPath } from '../files/anchor.ts'
import { readChain } from '../files/commit-chain.ts'
import { describeMissing } from '../files/compare-anchor.ts'
import { probeDisk } from '../files/probe-disk.ts'
import type { SqliteConnection } from '../open-sqlite.ts'
import { lockWriter, openSqliteStore } from '../sqlite.ts'
import type { SqliteFile } from '../sqlite-address.ts'
import { toStoreError } from '../sqlite-errors.ts'

export async function inspectSqlite(file: SqliteFile): Promise<readonly Finding[]> {
  const { path } = file
  if (statSync(path).isDirectory())
    return [
      {
        check: 'store',
        status: 'fail',
        detail: `${path} is a folder, not a SQLite file`,
        hint: `Pass the file in it, such as sqlite:${join(path, 'runs.db')}`,
      },
    ]
  return [
    ...inspectFiles(path),
    ...inspectDisk(path),
    await inspectWrite(path),
    ...(await inspectStore(file)),
    ...inspectDatabase(file),
  ]
}

/** All acknowledged commits of a deleted database, by the anchor that it left. */
export function inspectMissing({ path }: SqliteFile): AnchorCheck | undefined {
  const anchor = existsSync(path) ? undefined : readAnchor(toAnchorPath(path))
  // A store that has acknowledged no commit has lost none.
  return anchor && anchor.last.n > 0 ? describeMissing(anchor) : undefined
}

function inspectFiles(path: string): Finding[] {
  const folder = dirname(resolve(path))
  const blocked = [path, `${path}-wal`, `${path}-anchor`, folder].filter(
    (one) => existsSync(one) && !isWritable(one),
  )
  const open = findReadable(path)
  const opened = open.map(({ file, mode }) => `${file} (mode ${mode})`).join(', ')
  return [
    blocked.length === 0
      ? { check: 'permissions', status: 'ok', detail: 'the files and their folder are writable' }
      : {
          check: 'permissions',
          status: 'fail',
          detail: `not writable: ${blocked.join(', ')}`,
          hint: 'Run the server as the owner of the files, or change their owner with chown',
        },
    open.length > 0
      ? {
          check: 'privacy',
          status: 'warn',
          detail: `other users of this machine can read ${opened}`,
          hint: `Run chmod 600 ${open.map(({ file }) => file).join(' ')}`,
        }
      : { check: 'privacy', status: 'ok', detail: `mode ${toMode(path)}` },
  ]
}

const toMode = (path: string) => (statSync(path).mode & 0o777).toString(8)

/** The database and its log may be shared with a group, the key with no other account. */
function findReadable(path: string): readonly { readonly file: string; readonly mode: string }[] {
  return [
    { file: path, bits: 0o004 },
    { file: `${path}-wal`, bits: 0o004 },
    { file: `${path}-secret-key`, bits: 0o044 },
  ]
    .filter(({ file, bits }) => ((statSync(file, { throwIfNoEntry: false })?.mode ?? 0) & bits) !== 0)
    .map(({ file }) => ({ file, mode: toMode(file) }))
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK)
    return true
  } catch {
    return false
  }
}

const megabyte = 1 << 20
const leastFree = 64 * megabyte
const plentyFree = 1_024 * megabyte
/** Types of file systems on another machine, where locks cannot be relied on: NFS, SMB, CIFS, SMB2. */
const networkTypes = new Set([0x6969, 0x517b, 0xff534d42, 0xfe534d42])

function inspectDisk(path: string): Finding[] {
  const { bavail, bsize, type } = statfsSync(dirname(resolve(path)))
  const free = bavail * bsize
  const detail = `${Math.floor(free / megabyte)} MB free, the database has ${Math.ceil(statSync(path).size / megabyte)} MB`
  const hint = 'Free space, or delete old runs with `proviso prune`'
  const disk: Finding =
    free < leastFree
      ? { check: 'disk', status: 'fail', detail, hint }
      : free < plentyFree
        ? { check: 'disk', status: 'warn', detail, hint }
        : { check: 'disk', status: 'ok', detail }
  if (!networkTypes.has(type)) return [disk]
  return [
    disk,
    {
      check: 'network drive',
      status: 'fail',
      detail: 'the file is on a network drive, where locks and syncs cannot be relied on',
      hint: 'Move the file to a local disk, or use PostgreSQL',
    },
  ]
}

async function inspectWrite(path: string): Promise<Finding> {
  const began = performance.now()
  try {
    await probeDisk(path)
    const tookMs = performance.now() - began
    const detail = `64 kB written and synced in ${tookMs.toFixed(1)} ms`
    if (tookMs < 250) return { check: 'write', status: 'ok', detail }
    return {
      check: 'write',
      status: 'warn',
      detail,
      hint: 'Use a faster disk: every commit waits for a sync',
    }
  } catch (cause) {
    return {
      check: 'write',
      status: 'fail',
      detail: toErrorMessage(cause),
      hint: 'Check the free space, the quota and the rights of the folder',
    }
  }
}

/** Opens the store as a reader would, and compares it with its anchor. */
async function inspectStore(file: SqliteFile): Promise<Finding[]> {
  try {
    const store = await openSqliteStore({ ...file, readOnly: true })
    const check = await store.checkAnchor?.().finally(() => store.close())
    const opened: Finding = { check: 'store', status: 'ok', detail: `opens; ${describeWriter(file)}` }
    if (check === undefined || check.state === 'absent')
      return [
        opened,
        {
          check: 'anchor',
          status: 'warn',
          detail: 'no anchor: the loss of acknowledged runs cannot be noticed',
          hint: 'Open the store once for writing, for example with `proviso serve`, to begin one',
        },
      ]
    if (check.state === 'ok')
      return [
        opened,
        { check: 'anchor', status: 'ok', detail: `all ${check.commit} acknowledged commits are there` },
      ]
    const hint = 'Restore a backup with `proviso restore`, or accept the loss with --accept-loss'
    return [
      opened,
      ...check.problems.map(
        ({ message }): Finding => ({ check: 'anchor', status: 'fail', detail: message, hint }),
      ),
    ]
  } catch (cause) {
    // A file that cannot be opened is rarely damaged: a full disk and missing rights look the same.
    const hint =
      ProvisoError.is(cause) && cause.code === 'store/corrupt'
        ? damagedHint
        : ProvisoError.is(cause) && cause.code !== 'store/unavailable'
          ? cause.hint
          : unopenedHint
    return [{ check: 'store', status: 'fail', detail: toErrorMessage(cause), hint }]
  }
}

const damagedHint = 'Stop the server and restore a backup with `proviso restore`'
const unopenedHint =
  'Fix the failed checks of permissions, disk and write first; if there are none, restore a backup with `proviso restore`'

function describeWriter({ path, driver }: SqliteFile): string {
  try {
    lockWriter(path, openWith[driver])()
    return 'no process writes to it'
  } catch (cause) {
    return ProvisoError.is(cause) && cause.code === 'store/locked'
      ? 'a process writes to it'
      : toErrorMessage(cause)
  }
}

/** Checks the pages of the database, and that the clock is not behind what was written. */
function inspectDatabase({ path, driver }: SqliteFile): Finding[] {
  let connection: SqliteConnection | undefined
  try {
    connection = openWith[driver](path)
    connection.execute('pragma query_only = on')
    const [row] = connection.execute('pragma quick_check(1)')
    const found = String(row?.['quick_check'])
    const pages: Finding =
      found === 'ok'
        ? { check: 'pages', status: 'ok', detail: 'quick_check finds no damage' }
        : {
            check: 'pages',
            status: 'fail',
            detail: found,
            hint: damagedHint,
          }
    return [pages, inspectClock(readChain(connection)?.newest.at)]
  } catch (cause) {
    return [
      {
        check: 'pages',
        status: 'fail',
        detail: toErrorMessage(cause),
        hint: toStoreError(path, cause).code === 'store/corrupt' ? damagedHint : unopenedHint,
      },
    ]
  } finally {
    connection?.close()
  }
}

const toleratedMs = 1_000

function inspectClock(lastCommitAt = 0): Finding {
  const behindMs = lastCommitAt - Date.now()
  const now = new Date().toISOString()
  if (behindMs <= toleratedMs) return { check: 'clock', status: 'ok', detail: now }
  return {
    check: 'clock',
    status: 'fail',
    detail: `${now} is ${Math.round(behindMs / 1_000)} s before the last commit: the clock was set back`,
    hint: 'Synchronise the clock (NTP): leases and timers wait until it has caught up',
  }
}
