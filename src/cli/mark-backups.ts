/**
 * Marks backups after an erasure: the manifest beside each backup names the runs that were erased since, so that they are
 * erased again when the backup is restored.
 */
import { readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ProvisoError } from '../base/errors/error.ts'
import { isObject } from '../base/json.ts'
import type { ErasureReceipt } from '../engine/erase.ts'

const suffix = '.manifest.json'

/** Returns the manifests of all backups in a folder. Throws if it cannot be read, before anything is erased. */
export function findManifests(folder: string): readonly string[] {
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
    throw new ProvisoError('option/invalid', `Cannot mark backups in ${folder}: it is not a folder`, {
      hint: 'Pass the folder of the files that `proviso backup` wrote',
    })
  return readdirSync(folder)
    .filter((name) => name.endsWith(suffix))
    .sort()
    .map((name) => join(folder, name))
    .filter((path) => readManifest(path) !== undefined)
}

/** Adds the erased runs to each manifest. The checksum of the backup does not cover its manifest. */
export function markBackups(manifests: readonly string[], { receiptId, at, runs }: ErasureReceipt): void {
  const mark = { receiptId, at, runIds: runs.map(({ runId }) => runId) }
  for (const path of manifests) {
    const manifest = readManifest(path)
    if (manifest === undefined) continue
    const before = Array.isArray(manifest['erased']) ? manifest['erased'] : []
    const text = `${JSON.stringify({ ...manifest, erased: [...before, mark] }, null, 2)}\n`
    writeFileSync(`${path}.partial`, text)
    renameSync(`${path}.partial`, path)
  }
}

function readManifest(path: string): { readonly [name: string]: unknown } | undefined {
  try {
    const manifest: unknown = JSON.parse(readFileSync(path, 'utf8'))
    return isObject(manifest) && manifest['format'] === 'proviso-backup' ? manifest : undefined
  } catch (cause) {
    throw new ProvisoError('option/invalid', `Cannot read the manifest ${path}`, {
      hint: 'Repair or remove it, then erase again',
      cause,
    })
  }
}
