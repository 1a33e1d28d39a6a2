/** The in-memory store, for tests, simulations and experiments. Nothing survives the process. */

import { ProvisoError } from '../../../base/errors/error.ts'
import { type Clock, systemClock } from '../../../base/time/clock.ts'
import { numbered } from '../../../domain/event/numbered.ts'
import type { JournalEvent } from '../../../domain/event.ts'
import type { CorrectionQuery, CorrectionRow } from '../../../domain/ports/ledger.ts'
import type {
  AskRow,
  AuditRow,
  Lease,
  MessageRow,
  OutputRow,
  SnapshotRow,
  Store,
} from '../../../domain/ports/store.ts'
import {
  appended,
  claimed,
  dueAt,
  firstHead,
  holds,
  overStatuses,
  publicHead,
  refusal,
  released,
  type StoredHead,
} from '../projections/heads.ts'
import type { StoredNode } from '../projections/node-steps.ts'
import { project, rowKey } from '../projections/projections.ts'
import type { PlanView } from '../projections/snapshot.ts'
import type { StoredSpan } from '../projections/spans.ts'
import { defaultLimits, newestFirst, oldestFirst, order } from '../shared/list-order.ts'
import { createListeners } from '../shared/listeners.ts'
import { createMemoryRecords } from './memory-records.ts'
import { sampleRuns } from './memory-sample.ts'

export interface MemoryStoreOptions {
  /** Clock of leases and wake-ups. Default: the system's. */
  readonly clock?: Pick<Clock, 'now'>
  /** Keep a ledger of corrections (AROS-66). Default false. */
  readonly ledger?: boolean
}

interface MemoryRun {
  head: StoredHead
  readonly journal: JournalEvent[]
  /** By `rowKey`. */
  readonly nodes: Map<string, StoredNode>
  /** The newest row of each node. */
  readonly newest: Map<string, StoredNode>
  readonly asks: Map<string, AskRow>
  readonly snapshots: SnapshotRow[]
  readonly spans: Map<string, StoredSpan>
  readonly audit: AuditRow[]
  readonly messages: MessageRow[]
  output?: OutputRow
  plan?: PlanView
}

export function createMemoryStore({ clock = systemClock, ledger = false }: MemoryStoreOptions = {}): Store {
  const corrections: CorrectionRow[] = []
  const runs = new Map<string, MemoryRun>()
  /** Runs that `claim` may assign now or later: the cost of a claim depends on active runs, not on all runs. */
  const due = new Map<string, number>()
  const askedIn = new Map<string, MemoryRun>()
  const listeners = createListeners()
  let closed = false

  function opened(): typeof runs {
    if (closed) throw new ProvisoError('store/closed', 'The store is closed')
    return runs
  }

  const find = (runId: string) => opened().get(runId)

  function setHead(run: MemoryRun, head: StoredHead): void {
    run.head = head
    const at = dueAt(head)
    if (at === undefined) due.delete(head.runId)
    else due.set(head.runId, at)
  }

  function write(run: MemoryRun, head: StoredHead, events: readonly JournalEvent[]): void {
    const changes = project(head, events, {
      node: (nodeId) => run.newest.get(nodeId),
      ask: (requestId) => run.asks.get(requestId),
      plan: () => run.plan,
    })
    for (const event of events) run.journal.push(event)
    for (const node of changes.olderNodes) run.nodes.set(rowKey(node), node)
    for (const [nodeId, node] of changes.nodes) {
      run.nodes.set(rowKey(node), node)
      run.newest.set(nodeId, node)
    }
    for (const [requestId, ask] of changes.asks) {
      run.asks.set(requestId, ask)
      askedIn.set(requestId, run)
    }
    for (const span of changes.spans) {
      run.spans.delete(span.spanId)
      run.spans.set(span.spanId, span)
    }
    run.snapshots.push(...changes.snapshots)
    run.audit.push(...changes.audit)
    run.messages.push(...changes.messages)
    if (ledger) corrections.push(...changes.corrections)
    if (changes.output !== undefined) run.output = changes.output
    if (changes.plan !== undefined) run.plan = changes.plan
    setHead(run, head)
    listeners.notify(head.runId, head.seq)
  }

  return {
    name: 'memory',
    records: createMemoryRecords({
      now() {
        opened()
        return clock.now()
      },
    }),

    async create(request) {
      if (find(request.runId) !== undefined) return false
      const head = firstHead(request, clock.now())
      const run: MemoryRun = {
        head,
        journal: [],
        nodes: new Map(),
        newest: new Map(),
        asks: new Map(),
        snapshots: [],
        spans: new Map(),
        audit: [],
        messages: [],
      }
      runs.set(request.runId, run)
      write(run, head, numbered(request.runId, 0, request.events))
      return request.claim === undefined ? true : leaseOf(head)
    },

    async append(append) {
      const run = find(append.runId)
      const refused = refusal(run?.head, append)
      if (run === undefined || refused !== undefined) return refused ?? { kind: 'missing' }
      const events = numbered(append.runId, append.expectedSeq, append.events)
      write(run, appended(run.head, append, clock.now()), events)
      return { kind: 'appended', seq: run.head.seq }
    },

    async read(runId, after, limit = defaultLimits.events) {
      return find(runId)?.journal.slice(Math.max(after, 0), Math.max(after, 0) + limit) ?? []
    },

    async head(runId) {
      const run = find(runId)
      return run === undefined ? undefined : publicHead(run.head)
    },

    async runs({ tenant, status, threadId, limit = defaultLimits.runs, before }) {
      const last = before === undefined ? undefined : find(before)?.head
      if (before !== undefined && last === undefined) return []
      return [...opened().values()]
        .map((run) => run.head)
        .filter(
          (head) =>
            (tenant === undefined || head.tenant === tenant) &&
            (status === undefined || status.includes(head.status)) &&
            (threadId === undefined || head.threadId === threadId) &&
            (last === undefined || newestFirst(last, head) < 0),
        )
        .sort(newestFirst)
        .slice(0, limit)
        .map(publicHead)
    },

    async claim({ owner, leaseMs, limit, runId, except = [] }) {
      const now = clock.now()
      opened()
      const left = new Set(except)
      const ready = [...due]
        .filter(([id, at]) => at <= now && (runId === undefined || id === runId) && !left.has(id))
        .sort(([oneId, one], [otherId, other]) => one - other || order(oneId, otherId))
        .slice(0, limit)
      return ready.flatMap(([id]) => {
        const run = find(id)
        if (run === undefined) return []
        setHead(run, claimed(run.head, { owner, leaseMs }, now))
        return [{ runId: id, lease: leaseOf(run.head) }]
      })
    },

    async renew({ owner, leaseMs, runIds }) {
      const leaseUntil = clock.now() + leaseMs
      const held = runIds
        .filter((id) => due.has(id))
        .flatMap((id) => find(id) ?? [])
        .filter((run) => run.head.owner === owner)
      for (const run of held) setHead(run, { ...run.head, leaseUntil })
      return held.map((run) => run.head.runId)
    },

    async release(runId, lease) {
      const run = find(runId)
      if (run === undefined || !holds(run.head, lease)) return
      setHead(run, released(run.head))
    },

    async nextWake({ except = [] } = {}) {
      opened()
      const left = new Set(except)
      let earliest: number | undefined
      for (const [id, at] of due) {
        if ((earliest === undefined || at < earliest) && !left.has(id)) earliest = at
      }
      return earliest
    },

    onChange: (listener) => listeners.add(listener),

    async asks({ tenant, runId, status, limit = defaultLimits.asks, after }) {
      const last = after === undefined ? undefined : askedIn.get(after)?.asks.get(after)
      if (after !== undefined && last === undefined) return []
      const from = runId === undefined ? [...opened().values()] : [find(runId) ?? []].flat()
      return from
        .flatMap((run) => [...run.asks.values()])
        .filter(
          (ask) =>
            (tenant === undefined || ask.tenant === tenant) &&
            (status === undefined || ask.status === status) &&
            (last === undefined || oldestFirst(last, ask) < 0),
        )
        .sort(oldestFirst)
        .slice(0, limit)
    },

    async ask(requestId) {
      opened()
      return askedIn.get(requestId)?.asks.get(requestId)
    },

    async nodes(runId) {
      return [...(find(runId)?.nodes.values() ?? [])]
        .sort((one, other) => one.position - other.position || order(one.nodeId, other.nodeId))
        .map(({ position: _, attemptStartedAt: __, signals: ___, ...row }) => row)
    },

    snapshots: async (runId) => [...(find(runId)?.snapshots ?? [])],
    output: async (runId) => find(runId)?.output,
    spans: async (runId) => [...(find(runId)?.spans.values() ?? [])].map(({ seq: _, ...span }) => span),
    audit: async (runId) => [...(find(runId)?.audit ?? [])],
    async messages(runId, limit = defaultLimits.messages) {
      const all = find(runId)?.messages ?? []
      // Not `slice(-limit)`: a limit of 0 would return everything.
      return all.slice(Math.max(all.length - limit, 0))
    },
    ...(ledger && { ledger: { list: async (query) => listCorrections(corrections, query) } }),
    sample: async (query) => sampleRuns(opened().values(), query),

    async prune({ before, tenant, dryRun = false }) {
      const over = [...opened().values()].filter(
        ({ head }) =>
          (overStatuses as readonly string[]).includes(head.status) &&
          head.updatedAt < before &&
          (tenant === undefined || head.tenant === tenant),
      )
      const events = over.reduce((sum, { journal }) => sum + journal.length, 0)
      for (const run of dryRun ? [] : over) {
        runs.delete(run.head.runId)
        for (const requestId of run.asks.keys()) {
          if (askedIn.get(requestId) === run) askedIn.delete(requestId)
        }
      }
      return { runs: over.length, events, values: 0 }
    },

    async close() {
      closed = true
      listeners.clear()
    },
  }
}

function listCorrections(
  rows: readonly CorrectionRow[],
  { since = Number.NEGATIVE_INFINITY, stepName, limit = 1_000 }: CorrectionQuery,
): CorrectionRow[] {
  return rows
    .filter((row) => row.timestamp >= since && (stepName === undefined || row.stepName === stepName))
    .sort((one, other) => one.timestamp - other.timestamp || order(one.id, other.id))
    .slice(0, limit)
}

function leaseOf({ owner = '', epoch }: StoredHead): Lease {
  return { owner, epoch }
}
