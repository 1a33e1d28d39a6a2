/**
 * Online backup of a SQLite file: `vacuum into` copies one moment of the database while another process writes to it, and
 * leaves out free pages, so that deleted data is not in the copy. It runs on another thread, because it blocks.
 */
import { existsSync, rmSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { Worker } from 'node:worker_threads'
import { ProvisoError } from '../../../../base/errors/error.ts'
import { assertFree, hashFile, partialOf, publishBackup, syncFile } from '../../shared/backup-files.ts'
import type { BackupManifest, BackupOptions, BackupResult } from '../../shared/operation-types.ts'
import { readChain } from '../files/commit-chain.ts'
import { openLibsql } from '../open-sqlite.ts'
import { openSqliteStore } from '../sqlite.ts'

/** Interval of progress reports. */
const reportMs = 250

export async function backupSqlite(path: string, options: BackupOptions): Promise<BackupResult> {
  const { to, dryRun = false, onProgress } = options
  assertFree(options)
  const store = await openSqliteStore({ path, readOnly: true })
  const anchor = await store.checkAnchor?.().finally(() => store.close())
  const bytes = statSync(path).size
  const result = { to, dryRun, bytes, anchor: anchor?.state ?? 'absent' }
  if (dryRun) return result
  const partial = partialOf(to)
  rmSync(partial, { force: true })
  const timer = setInterval(() => {
    const done = statSync(partial, { throwIfNoEntry: false })?.size ?? 0
    onProgress?.({ done, total: bytes, unit: 'bytes' })
  }, reportMs)
  try {
    await copyDatabase(path, partial)
    syncFile(partial)
    const manifest = await describeCopy(partial)
    publishBackup(to, manifest)
    return { ...result, bytes: manifest.bytes, manifest }
  } catch (cause) {
    rmSync(partial, { force: true })
    throw ProvisoError.is(cause)
      ? cause
      : new ProvisoError('store/unavailable', `Cannot back up ${path} to ${to}: ${String(cause)}`, { cause })
  } finally {
    clearInterval(timer)
  }
}

/** The source of the thread: it needs the driver only, and no file of its own in the package. */
const copySource = `
  const { workerData: { driver, from, to } } = require('node:worker_threads')
  const database = new (require(driver))(from, { timeout: 30000 })
  database.prepare('vacuum into ?').run([to])
  database.close()
`

function copyDatabase(from: string, to: string): Promise<void> {
  const driver = createRequire(import.meta.url).resolve('libsql')
  return new Promise((resolve, reject) => {
    const worker = new Worker(copySource, { eval: true, workerData: { driver, from, to } })
    worker.on('error', reject)
    worker.on('exit', () => resolve())
  })
}

/** Reads the whole copy: a backup that cannot be read is useless. */
async function describeCopy(copy: string): Promise<BackupManifest> {
  const connection = openLibsql(copy)
  try {
    const [check] = connection.execute('pragma integrity_check(1)')
    if (check?.['integrity_check'] !== 'ok')
      throw new ProvisoError(
        'store/corrupt',
        `The copy of the database is damaged: ${String(check?.['integrity_check'])}`,
      )
    const chain = readChain(connection)
    const [row] = connection.execute(
      'select (select count(*) from flex_runs) as runs, (select count(*) from flex_events) as events',
    )
    return {
      format: 'proviso-backup',
      version: 1,
      kind: 'sqlite',
      createdAt: new Date().toISOString(),
      bytes: statSync(copy).size,
      sha256: await hashFile(copy),
      runs: Number(row?.['runs']),
      events: Number(row?.['events']),
      ...(chain && { storeId: chain.storeId, commit: chain.newest.n, head: chain.newest.head }),
    }
  } finally {
    connection.close()
    for (const end of ['-wal', '-shm']) if (existsSync(copy + end)) rmSync(copy + end)
  }
}
