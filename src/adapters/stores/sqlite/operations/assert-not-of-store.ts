/** Refuses a backup file that is the store itself or one of its companions: writing or restoring it would destroy the store. */
import { realpathSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { ProvisoError } from '../../../../base/errors/error.ts'

/** The files of a store, by what follows the name of its database. */
const companions: Readonly<Record<string, string>> = {
  '': 'the store itself',
  '-wal': 'the log of the store',
  '-shm': 'the index of the log of the store',
  '-journal': 'the journal of the store',
  '-writer': 'the lock of the store',
  '-anchor': 'the anchor of the store',
  '-anchor-old': 'the anchor of the store',
  '-secret-key': 'the key of the store',
  '-probe': 'a file of the store',
  '.partial': 'a file of the store',
}

interface BackupFiles {
  readonly files: readonly string[]
  /** Begin of the message. */
  readonly problem: string
  readonly hint: string
}

/** Compares names behind links, and device and inode, which hard links and other spellings of a path share. */
export function assertNotOfStore(store: string, { files, problem, hint }: BackupFiles): void {
  for (const file of files)
    for (const path of new Set([resolve(store), toRealPath(store)]))
      for (const [end, meaning] of Object.entries(companions))
        if (isSameFile(file, path + end))
          throw new ProvisoError('option/invalid', `${problem}: ${file} is ${meaning}`, { hint })
}

function isSameFile(one: string, other: string): boolean {
  if (resolve(one) === resolve(other) || toRealPath(one) === toRealPath(other)) return true
  const [first, second] = [one, other].map((path) => statSync(path, { throwIfNoEntry: false, bigint: true }))
  return first !== undefined && first.ino === second?.ino && first.dev === second.dev
}

/** Also of a file that does not exist, in a folder that does. */
function toRealPath(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    try {
      return join(realpathSync(dirname(resolve(path))), basename(path))
    } catch {
      return resolve(path)
    }
  }
}
