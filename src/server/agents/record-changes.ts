/**
 * Notices changes of registrations, facets and webhooks that other processes make: compares the version of the records when
 * a run starts, and has the caches of this process read again if it differs.
 */
import { shareNext } from '../../base/time/share-next.ts'
import type { Records } from '../../domain/ports/records.ts'

export interface RecordChanges {
  /** Resolves when the caches hold everything that was stored when it was called. */
  check(): Promise<void>
  /** Adds a cache. */
  add(refresh: () => Promise<void>): void
}

export function createRecordChanges({ version }: Pick<Records, 'version'>): RecordChanges {
  const caches: (() => Promise<void>)[] = []
  let seen: number | undefined
  return {
    check: shareNext(async () => {
      const now = await version()
      if (now === seen) return
      await Promise.all(caches.map((refresh) => refresh()))
      seen = now
    }),
    add: (refresh) => void caches.push(refresh),
  }
}
