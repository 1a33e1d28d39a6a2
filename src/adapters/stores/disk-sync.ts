/** Brings a file to the disk, by a handle of its own. */
import { closeSync, fdatasync, fdatasyncSync, openSync } from 'node:fs'

export interface DiskSync {
  /** Resolves when everything that was written to the file before the call is on the disk; another thread waits for it. */
  sync(): Promise<void>
  /** The same, and this thread waits. */
  syncNow(): void
  close(): void
}

export function syncFile(path: string): DiskSync {
  // Not for writing; but some systems sync only what may be written to.
  const file = openSync(path, 'r+')
  return {
    sync: () =>
      new Promise((resolve, reject) => {
        fdatasync(file, (error) => {
          if (error) reject(error)
          else resolve()
        })
      }),
    syncNow: () => fdatasyncSync(file),
    close: () => closeSync(file),
  }
}
