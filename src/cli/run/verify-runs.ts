/** Verifies the runs of a store one by one and yields the issues of each. A run that changes meanwhile is read again. */
import { ProvisoError } from '../../base/errors/error.ts'
import type { Issue } from '../../base/errors/issue.ts'
import type { Store } from '../../domain/ports/store.ts'
import { loadEvents } from '../../engine/journal/journal.ts'
import { verifyHistory } from '../../engine/verify/verify.ts'
import { loadAsks } from '../../engine/verify/verify-asks.ts'

export interface VerifiedRun {
  readonly runId: string
  readonly events: number
  /** Each is located by its sequence number, `/7`. */
  readonly issues: readonly Issue[]
}

export async function* verifyRuns(
  store: Store,
  runIds: readonly string[],
): AsyncGenerator<VerifiedRun, void, void> {
  if (runIds.length > 0) for (const runId of runIds) yield await verifyRun(store, runId)
  else for await (const runId of allRuns(store)) yield await verifyRun(store, runId)
}

const pageSize = 500

async function* allRuns(store: Store): AsyncGenerator<string, void, void> {
  let before: string | undefined
  for (;;) {
    const page = await store.runs({ limit: pageSize, ...(before !== undefined && { before }) })
    for (const { runId } of page) yield runId
    // Only an empty page is the end: a store may return fewer rows than requested.
    if (page.length === 0) return
    before = page.at(-1)?.runId
  }
}

const looks = 5

/** Verifies journal, head, audit and asks. They are read one after the other, so they are consistent only if the head has not moved (optimistic read). */
async function verifyRun(store: Store, runId: string): Promise<VerifiedRun> {
  for (let look = 1; ; look++) {
    const head = await store.head(runId)
    if (!head) throw new ProvisoError('run/missing', `There is no run "${runId}" in this store`)
    const events = await loadEvents(store, runId)
    const audit = await store.audit(runId)
    const asks = await loadAsks(store, runId)
    const quiet = (await store.head(runId))?.seq === head.seq
    if (quiet) return { runId, events: events.length, issues: verifyHistory(events, { head, audit, asks }) }
    // The run is written to constantly: verify the journal alone.
    if (look === looks) return { runId, events: events.length, issues: verifyHistory(events) }
  }
}
