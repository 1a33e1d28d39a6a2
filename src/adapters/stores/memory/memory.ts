/** The in-memory store, for tests, simulations and experiments. Nothing survives the process. */

import { ProvisoError } from '../../../base/errors/error.ts'
import { joined } from '../../../base/json.ts'
import { type Clock, systemClock } from '../../../base/time/clock.ts'
import { isAboutSubject } from '../../../domain/envelope/subjects.ts'
import { numbered } from '../../../domain/event/numbered.ts'
import type { JournalEvent } from '../../../domain/event.ts'
import { priorityLevels } from '../../../domain/placement.ts'
import type { PlanView } from '../../../domain/plan/progress.ts'
import type { Erase, Erased, ErasedRun, SubjectQuery } from '../../../domain/ports/erase.ts'
import type { CorrectionQuery, CorrectionRow } from '../../../domain/ports/ledger.ts'
import type {
  AskRow,
  AuditRow,
  Lease,
  MessageRow,
  OutputRow,
  Prune,
  Pruned,
  QueueStatus,
  SnapshotRow,
  Store,
  TenantUsage,
  ThreadRow,
} from '../../../domain/ports/store.ts'
import { isSettled, isTerminal, type RunStatus, terminalStatuses } from '../../../domain/status.ts'
import {
  appended,
  claimed,
  dueAt,
  firstHead,
  givesUpPlacement,
  holds,
  publicHead,
  refusal,
  released,
  type StoredHead,
} from '../projections/heads.ts'
import { publicNode, type StoredNode, type StoredSpan } from '../projections/node-steps.ts'
import { project, rowKey } from '../projections/projections.ts'
import { readSpanHealth, sampleRuns } from '../projections/span-health.ts'
import {
  dearestFirst,
  defaultLimits,
  lastChangedFirst,
  newestFirst,
  oldestFirst,
  order,
} from '../shared/list-order.ts'
import { createListeners, type Listeners } from '../shared/listeners.ts'
import { tombstone } from '../shared/record-operations.ts'
import { createMemoryRecords, type MemoryRecords } from './memory-records.ts'

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

/** Everything the store holds. */
interface MemoryState {
  readonly clock: Pick<Clock, 'now'>
  readonly ledger: boolean
  readonly runs: Map<string, MemoryRun>
  /** Due times of the runs that `claim` may assign now or later: the cost of a claim depends on active runs, not on all runs. */
  readonly due: Map<string, number>
  /** Runs by the ids of their asks. */
  readonly askedIn: Map<string, MemoryRun>
  readonly corrections: CorrectionRow[]
  readonly listeners: Listeners
  closed: boolean
}

export function createMemoryStore({ clock = systemClock, ledger = false }: MemoryStoreOptions = {}): Store {
  const state: MemoryState = {
    clock,
    ledger,
    runs: new Map(),
    due: new Map(),
    askedIn: new Map(),
    corrections: [],
    listeners: createListeners(),
    closed: false,
  }
  const records = createMemoryRecords({
    now() {
      openRuns(state)
      return clock.now()
    },
  })
  return {
    name: 'memory',
    records,
    ...createRunWriter(state, records),
    ...createLeases(state),
    ...createRunLists(state),
    ...createRunReader(state),
    onChange: (listener) => state.listeners.add(listener),
    ...(ledger && { ledger: { list: async (query) => listCorrections(state.corrections, query) } }),
    usage: async (query) => addUsage(openRuns(state).values(), query),
    inspectQueue: async () => inspectQueue(openRuns(state).values(), clock.now()),
    sample: async (query) => sampleRuns(openRuns(state).values(), query),
    prune: async (request) => pruneRuns(state, request, records),
    findRunsAbout: async (query) => findRunsAbout(state, query),
    erase: (request) => eraseRuns(state, request, records),
    async close() {
      state.closed = true
      state.listeners.clear()
    },
  }
}

function inspectQueue(runs: Iterable<MemoryRun>, now: number): QueueStatus {
  const open = [...runs].map(({ head }) => head).filter(({ status }) => !isTerminal(status))
  const counts: Partial<Record<RunStatus, number>> = {}
  for (const { status } of open) counts[status] = (counts[status] ?? 0) + 1
  const due = open
    .flatMap(({ runId, tenant, owner, wakeAt }) =>
      owner === undefined && wakeAt !== undefined && wakeAt <= now ? [{ runId, tenant, dueAt: wakeAt }] : [],
    )
    .sort((one, other) => one.dueAt - other.dueAt || order(one.runId, other.runId))
  const leases = new Map<string, { owner: string; runs: number; expired: number }>()
  for (const { owner, leaseUntil = 0 } of open) {
    if (owner === undefined) continue
    const { runs = 0, expired = 0 } = leases.get(owner) ?? {}
    leases.set(owner, { owner, runs: runs + 1, expired: expired + (leaseUntil <= now ? 1 : 0) })
  }
  return {
    now,
    runs: counts,
    due: due.length,
    oldestDue: due.slice(0, 10),
    leases: [...leases.values()].sort((one, other) => other.runs - one.runs || order(one.owner, other.owner)),
  }
}

/** Adds up the events of a tenant's runs. */
function addUsage(
  runs: Iterable<MemoryRun>,
  { tenant, from }: { readonly tenant: string; readonly from: number },
): TenantUsage {
  let [stored, tokens, costUsd] = [0, 0, 0]
  for (const { head, journal } of runs) {
    if (head.tenant !== tenant) continue
    for (const event of journal) {
      stored += JSON.stringify(event.payload).length
      if (event.type !== 'attempt_end' || event.at < from) continue
      const { usage } = event.payload
      tokens += (usage.inputTokens ?? 0) + (usage.outputTokens ?? 0)
      costUsd += usage.costUsd ?? 0
    }
  }
  return { stored, tokens, costUsd }
}

/** Returns the runs, or throws when the store is closed. */
function openRuns({ closed, runs }: MemoryState): Map<string, MemoryRun> {
  if (closed) throw new ProvisoError('store/closed', 'The store is closed')
  return runs
}

function findRun(state: MemoryState, runId: string): MemoryRun | undefined {
  return openRuns(state).get(runId)
}

function setHead({ due }: MemoryState, run: MemoryRun, head: StoredHead): void {
  run.head = head
  const at = dueAt(head)
  if (at === undefined) due.delete(head.runId)
  else due.set(head.runId, at)
}

/** Appends events to the journal and applies their projections. */
function writeEvents(
  state: MemoryState,
  run: MemoryRun,
  head: StoredHead,
  events: readonly JournalEvent[],
): void {
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
    state.askedIn.set(requestId, run)
  }
  for (const span of changes.spans) {
    run.spans.delete(span.spanId)
    run.spans.set(span.spanId, span)
  }
  run.snapshots.push(...changes.snapshots)
  run.audit.push(...changes.audit)
  run.messages.push(...changes.messages)
  if (state.ledger) state.corrections.push(...changes.corrections)
  if (changes.output !== undefined) run.output = changes.output
  if (changes.plan !== undefined) run.plan = changes.plan
  setHead(state, run, head)
  state.listeners.notify(head.runId, head.seq, undefined, isSettled(head.status))
}

function createRunWriter(state: MemoryState, { documents }: MemoryRecords): Pick<Store, 'create' | 'append'> {
  return {
    async create(request) {
      if (findRun(state, request.runId) !== undefined) return false
      const head = firstHead(request, state.clock.now())
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
      state.runs.set(request.runId, run)
      if (request.documents) documents.addAll(request.documents)
      writeEvents(state, run, head, numbered(request.runId, 0, request.events))
      return request.claim === undefined ? true : toLease(head)
    },

    async append(append) {
      const run = findRun(state, append.runId)
      const refused = refusal(run?.head, append)
      if (run === undefined || refused !== undefined) return refused ?? { kind: 'missing' }
      const events = numbered(append.runId, append.expectedSeq, append.events)
      if (append.documents) documents.addAll(append.documents)
      const head = appended(run.head, append, state.clock.now())
      const placed = givesUpPlacement(events) ? joined(head, { placement: undefined }) : head
      writeEvents(state, run, placed, events)
      return { kind: 'appended', seq: run.head.seq }
    },
  }
}

function createLeases(state: MemoryState): Pick<Store, 'claim' | 'renew' | 'release' | 'nextWake'> {
  return {
    async claim({ owner, leaseMs, limit, runId, except = [], exceptTenants = [], placements }) {
      const now = state.clock.now()
      openRuns(state)
      const left = new Set(except)
      const isOfOthers = (id: string) =>
        exceptTenants.length === 0 || !exceptTenants.includes(findRun(state, id)?.head.tenant ?? '')
      const ready = [...state.due]
        .filter(([id, at]) => at <= now && (runId === undefined || id === runId) && !left.has(id))
        .filter(([id]) => isOfOthers(id) && isPlaced(findRun(state, id)?.head, placements))
        .map(([id, at]) => ({ id, at, level: priorityLevels[findRun(state, id)?.head.priority ?? 'normal'] }))
        .sort((one, other) => other.level - one.level || one.at - other.at || order(one.id, other.id))
        .slice(0, limit)
      return ready.flatMap(({ id }) => {
        const run = findRun(state, id)
        if (run === undefined) return []
        setHead(state, run, claimed(run.head, { owner, leaseMs }, now))
        return [{ runId: id, tenant: run.head.tenant, lease: toLease(run.head) }]
      })
    },

    async renew({ owner, leaseMs, runIds }) {
      const leaseUntil = state.clock.now() + leaseMs
      const held = runIds
        .filter((id) => state.due.has(id))
        .flatMap((id) => findRun(state, id) ?? [])
        .filter((run) => run.head.owner === owner)
      for (const run of held) setHead(state, run, { ...run.head, leaseUntil })
      return held.map(({ head: { runId, seq } }) => ({ runId, seq }))
    },

    async release(runId, lease) {
      const run = findRun(state, runId)
      if (run === undefined || !holds(run.head, lease)) return
      setHead(state, run, released(run.head))
    },

    async nextWake({ except = [], placements } = {}) {
      openRuns(state)
      const left = new Set(except)
      let earliest: number | undefined
      for (const [id, at] of state.due) {
        if (earliest !== undefined && at >= earliest) continue
        if (!left.has(id) && isPlaced(findRun(state, id)?.head, placements)) earliest = at
      }
      return earliest
    },
  }
}

/** Whether a process that serves these placements may execute the run. */
function isPlaced(head: StoredHead | undefined, placements: readonly string[] | undefined): boolean {
  return placements === undefined || head?.placement === undefined || placements.includes(head.placement)
}

function containsText({ objective, pipeline = '', runId }: StoredHead, text: string): boolean {
  return [objective, pipeline, runId].some((each) => each.toLowerCase().includes(text))
}

/** Lists over all runs. */
function createRunLists(state: MemoryState): Pick<Store, 'runs' | 'threads' | 'asks' | 'ask'> {
  return {
    async threads({ tenant, before, limit = defaultLimits.threads }) {
      const found = new Map<string, ThreadRow>()
      for (const { head } of openRuns(state).values()) {
        const { threadId, createdAt, updatedAt } = head
        if (threadId === undefined || head.tenant !== tenant) continue
        const known = found.get(threadId) ?? { threadId, runs: 0, createdAt, updatedAt }
        found.set(threadId, {
          threadId,
          runs: known.runs + 1,
          createdAt: Math.min(known.createdAt, createdAt),
          updatedAt: Math.max(known.updatedAt, updatedAt),
        })
      }
      return [...found.values()]
        .filter((thread) => before === undefined || lastChangedFirst(before, thread) < 0)
        .sort(lastChangedFirst)
        .slice(0, limit)
    },

    async runs({ tenant, status, threadId, search, limit = defaultLimits.runs, before, sort, ...more }) {
      const { minCostUsd = 0, maxCostUsd = Number.POSITIVE_INFINITY, nodeId, model } = more
      const compare = sort === 'cost' ? dearestFirst : newestFirst
      const last = before === undefined ? undefined : findRun(state, before)?.head
      if (before !== undefined && last === undefined) return []
      const isCalled = ({ spans }: MemoryRun) =>
        [...spans.values()].some((span) => {
          const found = readSpanHealth(span)
          return (
            found !== undefined &&
            (nodeId === undefined || found.nodeId === nodeId) &&
            (model === undefined || found.model === model)
          )
        })
      return [...openRuns(state).values()]
        .filter((run) => (nodeId === undefined && model === undefined) || isCalled(run))
        .map((run) => run.head)
        .filter(
          (head) =>
            (tenant === undefined || head.tenant === tenant) &&
            (status === undefined || status.includes(head.status)) &&
            (threadId === undefined || head.threadId === threadId) &&
            (search === undefined || containsText(head, search.toLowerCase())) &&
            (head.costUsd ?? 0) >= minCostUsd &&
            (head.costUsd ?? 0) <= maxCostUsd &&
            (last === undefined || compare(last, head) < 0),
        )
        .sort(compare)
        .slice(0, limit)
        .map(publicHead)
    },

    async asks({ tenant, runId, status, limit = defaultLimits.asks, after }) {
      const last = after === undefined ? undefined : state.askedIn.get(after)?.asks.get(after)
      if (after !== undefined && last === undefined) return []
      const from = runId === undefined ? [...openRuns(state).values()] : [findRun(state, runId) ?? []].flat()
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
      openRuns(state)
      return state.askedIn.get(requestId)?.asks.get(requestId)
    },
  }
}

type RunReader = Pick<
  Store,
  'read' | 'head' | 'nodes' | 'snapshots' | 'output' | 'spans' | 'audit' | 'messages'
>

/** The rows of one run. */
function createRunReader(state: MemoryState): RunReader {
  return {
    async read(runId, after, limit = defaultLimits.events) {
      return findRun(state, runId)?.journal.slice(Math.max(after, 0), Math.max(after, 0) + limit) ?? []
    },

    async head(runId) {
      const run = findRun(state, runId)
      return run === undefined ? undefined : publicHead(run.head)
    },

    async nodes(runId) {
      return [...(findRun(state, runId)?.nodes.values() ?? [])]
        .sort((one, other) => one.position - other.position || order(one.nodeId, other.nodeId))
        .map(publicNode)
    },

    snapshots: async (runId) => [...(findRun(state, runId)?.snapshots ?? [])],
    output: async (runId) => findRun(state, runId)?.output,
    spans: async (runId) =>
      [...(findRun(state, runId)?.spans.values() ?? [])].map(({ seq: _, ...span }) => span),
    audit: async (runId) => [...(findRun(state, runId)?.audit ?? [])],
    async messages(runId, limit = defaultLimits.messages) {
      const all = findRun(state, runId)?.messages ?? []
      // Not `slice(-limit)`: a limit of 0 would return everything.
      return all.slice(Math.max(all.length - limit, 0))
    },
  }
}

function pruneRuns(
  state: MemoryState,
  { before, tenant, exceptTenants = [], status = terminalStatuses, dryRun = false }: Prune,
  { documents }: MemoryRecords,
): Pruned {
  const over = [...openRuns(state).values()].filter(
    ({ head }) =>
      isTerminal(head.status) &&
      status.includes(head.status) &&
      head.updatedAt < before &&
      (tenant === undefined || head.tenant === tenant) &&
      !exceptTenants.includes(head.tenant),
  )
  const events = over.reduce((sum, { journal }) => sum + journal.length, 0)
  for (const run of dryRun ? [] : over) {
    deleteRun(state, run)
    documents.deleteOf(run.head.runId)
  }
  return { runs: over.length, events, values: 0 }
}

function deleteRun(state: MemoryState, run: MemoryRun): void {
  state.runs.delete(run.head.runId)
  for (const requestId of run.asks.keys()) {
    if (state.askedIn.get(requestId) === run) state.askedIn.delete(requestId)
  }
}

function findRunsAbout(state: MemoryState, { subject, tenant }: SubjectQuery): string[] {
  return [...openRuns(state).values()]
    .filter(({ head, journal: [first] }) => {
      if (first?.type !== 'start' || (tenant !== undefined && head.tenant !== tenant)) return false
      return isAboutSubject(first.payload.envelope, subject)
    })
    .map(({ head }) => head.runId)
    .sort()
}

async function eraseRuns(
  state: MemoryState,
  { runIds, by, receiptId, dryRun = false }: Erase,
  { operations, once, documents }: MemoryRecords,
): Promise<Erased> {
  const runs: ErasedRun[] = []
  let answers = 0
  for (const runId of new Set(runIds)) {
    const run = findRun(state, runId)
    if (run === undefined || !isTerminal(run.head.status)) continue
    const { tenant, status } = run.head
    const erased = {
      runId,
      tenant,
      status,
      events: run.journal.length,
      auditHead: run.audit.at(-1)?.hash ?? '',
    }
    runs.push(erased)
    answers += once.deleteAbout(runId, dryRun)
    if (dryRun) continue
    deleteRun(state, run)
    documents.deleteOf(runId)
    for (const [index, { id }] of [...state.corrections.entries()].reverse())
      if (id.startsWith(`${runId}:`)) state.corrections.splice(index, 1)
    await operations.append(tombstone(erased, { by, receiptId }))
  }
  const events = runs.reduce((sum, run) => sum + run.events, 0)
  return { runs, events, values: 0, sharedValues: 0, answers, residue: [] }
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

function toLease({ owner = '', epoch }: StoredHead): Lease {
  return { owner, epoch }
}
