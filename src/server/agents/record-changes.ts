/**
 * Notices changes of registrations, facets and webhooks that other processes make: compares the version of the records when
 * a run is started or claimed, and when the store notifies of a change, and has the caches of this process read again if it
 * differs.
 */
import { shareNext } from '../../base/time/share-next.ts'
import type { Records } from '../../domain/ports/records.ts'

export interface RecordChanges {
  /** Checks whenever another process notifies, until it is closed. `onRead`: called when the caches were read again. */
  follow(given: { readonly onRead: () => void; readonly onError: (cause: unknown) => void }): void
  close(): void
  /** Resolves when the caches hold everything that was stored when it was called. */
  check(): Promise<void>
  /** Adds a cache. */
  add(refresh: () => Promise<void>): void
}

export function createRecordChanges({
  version,
  onChange,
}: Pick<Records, 'version' | 'onChange'>): RecordChanges {
  const caches: (() => Promise<void>)[] = []
  let seen: number | undefined
  let unsubscribe = () => {}
  let onRead = () => {}
  const check = shareNext(async () => {
    const now = await version()
    if (now === seen) return
    await Promise.all(caches.map((refresh) => refresh()))
    seen = now
    onRead()
  })
  return {
    check,
    follow(given) {
      if (caches.length === 0) return
      onRead = given.onRead
      unsubscribe = onChange?.(() => void check().catch(given.onError)) ?? unsubscribe
    },
    close: () => unsubscribe(),
    add: (refresh) => void caches.push(refresh),
  }
}
