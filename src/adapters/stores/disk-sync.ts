/** Waits until a file is on the disk without holding up the thread: its own handle, and the threads that Node has for files. */
import { closeSync, fdatasync, openSync } from 'node:fs'

export interface DiskSync {
  /** Resolves when everything that was written to the file before the call is on the disk. */
  sync(): Promise<void>
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
    close: () => closeSync(file),
  }
}
