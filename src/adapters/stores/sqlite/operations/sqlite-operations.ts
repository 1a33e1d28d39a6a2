/** Operations for operators on a SQLite file: inspection, backup and restore. */

import { chmodSync, copyFileSync, existsSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { ProvisoError, toErrorMessage } from '../../../../base/errors/error.ts'
import {
  assertFree,
  checkBackup,
  hashFile,
  publishBackup,
  syncFile,
  syncFolder,
  toPartialPath,
  toWrittenPaths,
} from '../../shared/backup-files.ts'
import type {
  BackupManifest,
  BackupOptions,
  BackupResult,
  RestoreOptions,
  RestoreResult,
  StoreOperations,
} from '../../shared/operation-types.ts'
import { getThreadDriver, openWith } from '../drivers/drivers.ts'
import { type AnchorContent, getFileMode, readAnchor, setAnchorAside, toAnchorPath } from '../files/anchor.ts'
import { countAll, readChain } from '../files/commit-chain.ts'
import { lockWriter, openSqliteStore } from '../sqlite.ts'
import { parseSqliteAddress, type SqliteFile } from '../sqlite-address.ts'
import { acceptLoss } from './accept-loss.ts'
import { assertNotOfStore } from './assert-not-of-store.ts'
import { inspectMissing, inspectSqlite } from './inspect-sqlite.ts'

function toFile(address: string): SqliteFile {
  const file = parseSqliteAddress(address)
  if (file === undefined)
    throw new ProvisoError('option/invalid', `The store must be sqlite:PATH, got "${address}"`)
  return file
}

export const sqliteOperations: StoreOperations = {
  backup: (address, options) => backupSqlite(toFile(address), options),
  restore: (address, options) => restoreSqlite(toFile(address), options),
  inspect: (address) => inspectSqlite(toFile(address)),
  inspectMissing: (address) => inspectMissing(toFile(address)),
  acceptLoss: (address, options) => acceptLoss(toFile(address), options),
}

/** Interval of progress reports. */
const reportMs = 250

/**
 * Online backup of a SQLite file: `vacuum into` copies one moment of the database while another process writes to it, and
 * leaves out free pages, so that deleted data is not in the copy. It runs on another thread, because it blocks.
 */
async function backupSqlite({ path, driver }: SqliteFile, options: BackupOptions): Promise<BackupResult> {
  const { to, dryRun = false, onProgress } = options
  assertNotOfStore(path, {
    files: toWrittenPaths(to),
    problem: `Cannot write the backup to ${to}`,
    hint: 'Pass another file with --to',
  })
  assertFree(options)
  const store = await openSqliteStore({ path, driver, readOnly: true })
  const anchor = await store.checkAnchor?.().finally(() => store.close())
  const bytes = statSync(path).size
  const result = { to, dryRun, bytes, anchor: anchor?.state ?? 'absent' }
  if (dryRun) return result
  const partial = toPartialPath(to)
  rmSync(partial, { force: true })
  const timer = setInterval(() => {
    const done = statSync(partial, { throwIfNoEntry: false })?.size ?? 0
    onProgress?.({ done, total: bytes, unit: 'bytes' })
  }, reportMs)
  try {
    await copyDatabase({ path, driver }, partial)
    chmodSync(partial, getFileMode(path))
    syncFile(partial)
    const manifest = await describeCopy({ path: partial, driver })
    publishBackup(to, manifest)
    return { ...result, bytes: manifest.bytes, manifest }
  } catch (cause) {
    rmSync(partial, { force: true })
    throw ProvisoError.is(cause)
      ? cause
      : new ProvisoError('store/unavailable', `Cannot back up ${path} to ${to}: ${toErrorMessage(cause)}`, {
          hint: 'Check the free space and the rights of the folder, or pass another file with --to',
          cause,
        })
  } finally {
    clearInterval(timer)
  }
}

/** The source of the thread: it needs the driver only, and no file of its own in the package. */
const copySource = `
  const { workerData: { driver, from, to } } = require('node:worker_threads')
  const loaded = require(driver.module)
  const Database = driver.member ? loaded[driver.member] : loaded
  try {
    const database = new Database(from, { timeout: 30000 })
    database.prepare('vacuum into ?').run(to)
    database.close()
  } catch (cause) {
    // The errors of a driver lose their message between threads.
    throw new Error(String(cause?.message ?? cause))
  }
`

function copyDatabase({ path: from, driver: name }: SqliteFile, to: string): Promise<void> {
  const driver = getThreadDriver(name)
  return new Promise((resolve, reject) => {
    const worker = new Worker(copySource, { eval: true, workerData: { driver, from, to } })
    worker.on('error', reject)
    worker.on('exit', () => resolve())
  })
}

/** Reads the whole copy: a backup that cannot be read is useless. */
async function describeCopy({ path: copy, driver }: SqliteFile): Promise<BackupManifest> {
  const connection = openWith[driver](copy)
  try {
    const [check] = connection.execute('pragma integrity_check(1)')
    if (check?.['integrity_check'] !== 'ok')
      throw new ProvisoError(
        'store/corrupt',
        `The copy of the database is damaged: ${String(check?.['integrity_check'])}`,
      )
    const chain = readChain(connection)
    return {
      format: 'proviso-backup',
      version: 1,
      kind: 'sqlite',
      createdAt: new Date().toISOString(),
      bytes: statSync(copy).size,
      sha256: await hashFile(copy),
      ...countAll(connection),
      ...(chain && { storeId: chain.storeId, commit: chain.newest.n, head: chain.newest.head }),
    }
  } finally {
    connection.close()
    for (const end of ['-wal', '-shm']) if (existsSync(copy + end)) rmSync(copy + end)
  }
}

/** Restores a backup of a SQLite file. The files of a store that is replaced are kept under another name. */
async function restoreSqlite({ path, driver }: SqliteFile, options: RestoreOptions): Promise<RestoreResult> {
  const { from, force = false, dryRun = false, onProgress } = options
  assertNotOfStore(path, {
    files: [from],
    problem: `Cannot restore from ${from}`,
    hint: 'Pass the file of a backup with --from',
  })
  if (!existsSync(dirname(path)))
    throw new ProvisoError('option/invalid', `Cannot restore to ${path}: the folder does not exist`, {
      hint: `Create ${dirname(path)}`,
    })
  const manifest = await checkBackup(from, 'sqlite', (done, total) =>
    onProgress?.({ done, total, unit: 'bytes' }),
  )
  const isThere = existsSync(path)
  if (isThere && !force)
    throw new ProvisoError('option/invalid', `Cannot restore to ${path}: the file exists`, {
      hint: 'Pass another file with --store, or pass --force to replace it; its files are kept under another name',
    })
  const anchor = readAnchor(toAnchorPath(path))
  const newerCommits = countNewer(anchor, manifest)
  const result = { manifest, dryRun, ...(newerCommits !== undefined && { newerCommits }) }
  if (dryRun) return result
  const partial = toPartialPath(path)
  const suffix = `before-restore-${Date.now()}`
  // Only while no process writes to the file. The lock creates a missing file.
  const unlock = lockWriter(path, openWith[driver])
  let isReplaced = isThere
  try {
    copyBackup(from, partial)
    if (isThere) putAside(path, suffix)
    if (anchor !== undefined) setAnchorAside(toAnchorPath(path), Date.now())
    for (const end of ['-wal', '-shm']) rmSync(path + end, { force: true })
    renameSync(partial, path)
    isReplaced = true
    syncFolder(path)
  } finally {
    rmSync(partial, { force: true })
    if (!isReplaced) rmSync(path, { force: true })
    unlock()
  }
  await compareRestored({ path, driver }, manifest)
  return { ...result, ...(isThere && { keptAs: `${path}-${suffix}` }) }
}

function copyBackup(from: string, to: string): void {
  try {
    copyFileSync(from, to)
    syncFile(to)
  } catch (cause) {
    throw new ProvisoError('store/unavailable', `Cannot copy ${from} to ${to}: ${toErrorMessage(cause)}`, {
      hint: 'Check the free space and the rights of the folder',
      cause,
    })
  }
}

function putAside(path: string, suffix: string): void {
  for (const end of ['-wal', '-shm', ''])
    if (existsSync(path + end)) renameSync(path + end, `${path}-${suffix}${end}`)
}

function countNewer(anchor: AnchorContent | undefined, manifest: BackupManifest): number | undefined {
  if (anchor === undefined || anchor.storeId !== manifest.storeId || manifest.commit === undefined)
    return undefined
  return Math.max(anchor.last.n - manifest.commit, 0)
}

/** Opens the restored file, which begins a new anchor, and compares it with the manifest. */
async function compareRestored({ path, driver }: SqliteFile, manifest: BackupManifest): Promise<void> {
  const store = await openSqliteStore({ path, driver })
  try {
    const check = await store.checkAnchor?.()
    const isSame =
      check?.state === 'ok' &&
      check.runs === manifest.runs &&
      check.events === manifest.events &&
      (manifest.head === undefined || check.head === manifest.head)
    if (!isSame)
      throw new ProvisoError(
        'store/corrupt',
        `The store at ${path} is not as its backup says after restoring`,
      )
  } finally {
    await store.close()
  }
}
