/** Holds the asks as people see them against the journal: a row has the question, its status and the decision. */
import { canonicalJson } from '../../base/canonical.ts'
import type { Json } from '../../base/json.ts'
import type { JournalEvent } from '../../domain/event.ts'
import type { AskRow, Store } from '../../domain/ports/store.ts'

type Members = { readonly [name: string]: Json }

/** `report` gets the event that a row belongs to; a row that the journal knows nothing of belongs to the last. */
export function compareAsks(
  events: readonly JournalEvent[],
  asks: readonly AskRow[],
  report: (seq: number, message: string) => void,
): void {
  const rows = new Map(asks.map((row) => [row.requestId, row]))
  for (const [requestId, { seq, row }] of askedIn(events)) {
    const stored = rows.get(requestId)
    rows.delete(requestId)
    if (stored === undefined) report(seq, `the table of asks lacks "${requestId}"`)
    else for (const message of differences(stored, row)) report(seq, message)
  }
  const last = events.at(-1)?.seq ?? 0
  for (const requestId of rows.keys())
    report(last, `the table of asks has "${requestId}", and the journal does not`)
}

/** The rows that follow from the journal, each with the event that last changed it. */
function askedIn(events: readonly JournalEvent[]) {
  const first = events[0]
  const tenant = (first?.type === 'start' && first.payload.tenant) || 'default'
  const asked = new Map<string, { readonly seq: number; readonly row: AskRow }>()
  for (const { runId, seq, at, ...event } of events) {
    if (event.type === 'hitl_request') {
      const { audit: _, continues: __, ...ask } = event.payload
      asked.set(ask.requestId, { seq, row: { ...ask, runId, tenant, status: 'pending', createdAt: at } })
    } else if (event.type === 'hitl_approval') {
      const { requestId, by } = event.payload
      const before = asked.get(requestId)?.row
      if (before === undefined) continue
      asked.set(requestId, { seq, row: { ...before, approvedBy: [...(before.approvedBy ?? []), by] } })
    } else if (event.type === 'hitl_resolved') {
      const { requestId, decision, by, note } = event.payload
      const before = asked.get(requestId)?.row
      if (before === undefined) continue
      const status = decision === 'reject' || decision === 'expired' ? 'denied' : 'resolved'
      const said = note === undefined ? {} : { note }
      asked.set(requestId, { seq, row: { ...before, status, resolvedAt: at, decision, by, ...said } })
    }
  }
  return asked
}

function* differences(stored: AskRow, expected: AskRow): Generator<string> {
  const { requestId } = expected
  const [shown, asked] = [membersOf(stored), membersOf(expected)]
  for (const name of new Set([...Object.keys(asked), ...Object.keys(shown)]))
    if (canonicalJson(shown[name] ?? null) !== canonicalJson(asked[name] ?? null))
      yield `the table of asks says something else of "${requestId}" (${name})`
}

/** Rows are plain data; members that are undefined are absent. */
function membersOf(row: AskRow): Members {
  return Object.fromEntries(Object.entries(row).filter(([, member]) => member !== undefined)) as Members
}

const pageSize = 200

/** All asks of a run, oldest first. */
export async function loadAsks(store: Pick<Store, 'asks'>, runId: string): Promise<AskRow[]> {
  const rows: AskRow[] = []
  for (;;) {
    const after = rows.at(-1)?.requestId
    const page = await store.asks({ runId, limit: pageSize, ...(after !== undefined && { after }) })
    // Not "a short page": a store may give less at a time than it is asked for.
    if (page.length === 0) return rows
    rows.push(...page)
  }
}
