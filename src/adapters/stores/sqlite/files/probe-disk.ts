/**
 * Checks that files beside the database can grow. A write to the database alone does not show it: SQLite reuses the space of
 * its log, so that a small write succeeds on a full disk.
 */
import { open, rm } from 'node:fs/promises'

/** About what one commit of a run needs. */
const probeBytes = 64 * 1_024

/** Rejects with the error of the system, such as ENOSPC. */
export async function probeDisk(file: string): Promise<void> {
  const path = `${file}-probe`
  const handle = await open(path, 'w')
  try {
    await handle.writeFile(Buffer.alloc(probeBytes, 1))
    await handle.datasync()
  } finally {
    await handle.close()
    await rm(path, { force: true })
  }
}
