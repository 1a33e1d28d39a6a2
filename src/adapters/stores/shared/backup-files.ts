/** Files of a backup: the manifest beside it, its checksum, and files that are complete or not there. */
import { createHash } from 'node:crypto'
import {
  closeSync,
  createReadStream,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { ProvisoError } from '../../../base/errors/error.ts'
import type { BackupManifest, BackupOptions } from './operation-types.ts'

const toManifestPath = (backup: string) => `${backup}.manifest.json`
/** Name of a file until it is complete. */
export const toPartialPath = (path: string) => `${path}.partial`
/** All files that writing a backup replaces. */
export const toWrittenPaths = (to: string) =>
  [to, toManifestPath(to)].flatMap((path) => [path, toPartialPath(path)])

export async function hashFile(path: string, onBytes: (done: number) => void = () => {}): Promise<string> {
  const sum = createHash('sha256')
  let done = 0
  for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20 })) {
    sum.update(chunk)
    done += (chunk as Buffer).length
    onBytes(done)
  }
  return sum.digest('hex')
}

/** Makes a file and its name durable. */
export function syncFile(path: string): void {
  const file = openSync(path, 'r+')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

export function syncFolder(path: string): void {
  const folder = openSync(dirname(path), 'r')
  try {
    fsyncSync(folder)
  } catch {
    // Some systems cannot sync a folder; they keep its entries in another way.
  } finally {
    closeSync(folder)
  }
}

export function assertFree({ to, force = false }: BackupOptions): void {
  if (existsSync(to) && !force)
    throw new ProvisoError('option/invalid', `Cannot write the backup to ${to}: the file exists`, {
      hint: 'Choose another file, or pass --force to overwrite it',
    })
  if (!existsSync(dirname(to)))
    throw new ProvisoError('option/invalid', `Cannot write the backup to ${to}: the folder does not exist`, {
      hint: `Create ${dirname(to)}`,
    })
}

/** Gives the complete file its name, then writes its manifest: a backup without one is not complete. */
export function publishBackup(to: string, manifest: BackupManifest): void {
  const text = `${JSON.stringify(manifest, null, 2)}\n`
  writeFileSync(toPartialPath(toManifestPath(to)), text)
  syncFile(toPartialPath(toManifestPath(to)))
  renameSync(toPartialPath(to), to)
  renameSync(toPartialPath(toManifestPath(to)), toManifestPath(to))
  syncFolder(to)
}

/** Reads the manifest of a backup and compares the file with it. */
export async function checkBackup(
  from: string,
  kind: BackupManifest['kind'],
  onBytes?: (done: number, total: number) => void,
): Promise<BackupManifest> {
  const manifest = readManifest(from)
  if (manifest.kind !== kind)
    throw new ProvisoError(
      'option/invalid',
      `Cannot restore ${from}: it is a backup of ${manifest.kind}, not of ${kind}`,
      {
        hint: 'Pass a store of the same kind with --store',
      },
    )
  const sha256 = await hashFile(from, (done) => onBytes?.(done, manifest.bytes))
  if (sha256 !== manifest.sha256)
    throw new ProvisoError(
      // The file is at fault, not the store.
      'option/invalid',
      `Cannot restore ${from}: its content does not match its manifest`,
      {
        hint: 'Use another backup: this file was changed or damaged after it was written',
      },
    )
  return manifest
}

function readManifest(from: string): BackupManifest {
  const path = toManifestPath(from)
  try {
    const manifest = JSON.parse(readFileSync(path, 'utf8')) as BackupManifest
    if (manifest.format === 'proviso-backup' && manifest.version === 1 && existsSync(from)) return manifest
  } catch (cause) {
    throw new ProvisoError('option/invalid', `Cannot restore ${from}: its manifest ${path} cannot be read`, {
      hint: 'Pass the file that `proviso backup` wrote, with its manifest beside it',
      cause,
    })
  }
  throw new ProvisoError(
    'option/invalid',
    `Cannot restore ${from}: ${path} does not describe a backup of this version`,
    {
      hint: 'Pass the file that `proviso backup` wrote, with its manifest beside it',
    },
  )
}
