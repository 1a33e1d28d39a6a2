/** Restores a backup of a SQLite file. The files of a store that is replaced are kept under another name. */
import { copyFileSync, existsSync, renameSync, rmSync } from 'node:fs'
import { ProvisoError } from '../../../../base/errors/error.ts'
import { checkBackup, partialOf, syncFile, syncFolder } from '../../shared/backup-files.ts'
import type { BackupManifest, RestoreOptions, RestoreResult } from '../../shared/operation-types.ts'
import { type AnchorContent, anchorFileOf, readAnchor, setAnchorAside } from '../files/anchor.ts'
import { openLibsql } from '../open-sqlite.ts'
import { lockWriter, openSqliteStore } from '../sqlite.ts'

export async function restoreSqlite(path: string, options: RestoreOptions): Promise<RestoreResult> {
  const { from, force = false, dryRun = false, onProgress } = options
  const manifest = await checkBackup(from, 'sqlite', (done, total) =>
    onProgress?.({ done, total, unit: 'bytes' }),
  )
  const isThere = existsSync(path)
  if (isThere && !force)
    throw new ProvisoError('option/invalid', `Cannot restore to ${path}: the file exists`, {
      hint: 'Pass another file with --store, or pass --force to replace it; its files are kept under another name',
    })
  const anchor = readAnchor(anchorFileOf(path))
  const newerCommits = countNewer(anchor, manifest)
  const result = { manifest, dryRun, ...(newerCommits !== undefined && { newerCommits }) }
  if (dryRun) return result
  const partial = partialOf(path)
  copyFileSync(from, partial)
  syncFile(partial)
  const suffix = `before-restore-${Date.now()}`
  // Only while no process writes to the file.
  const unlock = lockWriter(path, openLibsql)
  try {
    if (isThere) putAside(path, suffix)
    if (anchor !== undefined) setAnchorAside(anchorFileOf(path), Date.now())
    for (const end of ['-wal', '-shm']) rmSync(path + end, { force: true })
    renameSync(partial, path)
    syncFolder(path)
  } finally {
    rmSync(partial, { force: true })
    unlock()
  }
  await compareRestored(path, manifest)
  return { ...result, ...(isThere && { keptAs: `${path}-${suffix}` }) }
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
async function compareRestored(path: string, manifest: BackupManifest): Promise<void> {
  const store = await openSqliteStore({ path })
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
