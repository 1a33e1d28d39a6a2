/**
 * Writes a batch in one transaction. Locks the heads of all runs, judges each write on its own, in order, so that a conflict
 * of one does not affect the others, and then writes everything that was accepted at once. `again` means that an earlier
 * try may have been committed without an answer: a write whose id is at its position in the journal has happened.
 */

import { isObject } from '../../../../base/json.ts'
import type { Envelope } from '../../../../domain/envelope.ts'
import { numbered } from '../../../../domain/event/numbered.ts'
import type { NewEvent } from '../../../../domain/event.ts'
import type { Append, Lease } from '../../../../domain/ports/store.ts'
import {
  appended,
  firstHead,
  type HeadCore,
  holds,
  refusal,
  released,
  type StoredHead,
} from '../../projections/heads.ts'
import { type Before, type Changes, listNodeChanges } from '../../projections/projections.ts'
import { documentRow } from '../documents.ts'
import type { HotRuns, Lag } from '../hot-runs.ts'
import { toChunks } from '../rows/chunk.ts'
import { catchUp, mayLag, withChanges } from '../rows/lagging-nodes.ts'
import { loadValues } from '../rows/load-values.ts'
import { headRow, toCore, toEvents } from '../rows/rows.ts'
import type { CommitChain } from '../sql-driver.ts'
import type { ReadStatements } from '../statements/read-statements.ts'
import type { LockedRow, WriteStatements } from '../statements/write-statements.ts'
import { askAll, type Statement, type Steps } from '../steps.ts'
import type { EventTable, RunTable } from '../tables.ts'
import { eventRows, type Write, type WriteResult } from '../writes.ts'
import { changeStatements } from './change-statements.ts'
import { listRows, nothing, type OpenRun, projectRuns, readBefore } from './project-runs.ts'
import { type RowsBefore, rowsBefore, selectsBefore } from './rows-before.ts'

interface BatchContext {
  readonly begin: Statement
  readonly commit: Statement
  readonly statements: WriteStatements
  readonly reads: Pick<ReadStatements, 'values' | 'nodes' | 'events'>
  /** The time, for databases without their own clock. */
  readonly now: number
  readonly again: boolean
  /**
   * Events share rows, and rows of nodes lag. Databases with several processes only read that: processes of the version before,
   * which do not know it, work beside those of this one. A later version may write it there, too.
   */
  readonly isCompact: boolean
  /** The ledger of corrections is kept. */
  readonly ledger?: boolean
  /** Counts the commit, for a single writer. */
  readonly chain?: CommitChain
  /** Cached rows that need not be read, for a single writer. */
  readonly hot?: HotRuns
  /** Cached rows of a database with several writers: they count if the head in the database is the one they belong to. */
  readonly recent?: HotRuns
}

type Create = Extract<Write, { kind: 'create' }>

export function* writeBatch(writes: readonly Write[], context: BatchContext): Steps<WriteResult[]> {
  const opened = yield* open(writes, context)
  const { runs, results, before, now, kept, first } = opened
  const { isCompact } = context
  yield* createRuns(writes, opened, context)
  for (const write of writes) {
    if (!results.has(write)) results.set(write, judge(write, runs.get(write.runId), { now, isCompact }))
  }
  const touched = [...runs.values()].filter((run) => run.touched)
  const changes = yield* projectRuns(touched, { before, kept }, context.reads)
  const cache = context.hot ?? context.recent
  for (const [index, run] of touched.entries())
    settleNodes(run, changes[index] as Changes, { ...opened, cache: isCompact ? cache : undefined })
  yield* changeStatements(touched, changes, { ...context, values: opened.values })
  for (const [index, run] of touched.entries())
    cache?.wrote({
      head: run.head,
      changes: changes[index] as Changes,
      begins: run.begins || first.has(run.head.runId),
      nodesSeq: run.nodesSeq,
    })
  return writes.map((write) => results.get(write) ?? { kind: 'missing' })
}

interface Opened {
  readonly runs: Map<string, OpenRun>
  /** What is decided already. */
  readonly results: Map<Write, WriteResult>
  readonly before: Map<string, RowsBefore>
  /** Rows that are in a cache, or follow from events. */
  readonly kept: Map<string, Before & { readonly lag: Lag }>
  /** Runs with a start and nothing else: they have no rows yet. */
  readonly first: ReadonlySet<string>
  readonly now: number
  readonly values: { readonly known: ReadonlySet<string>; readonly asked: ReadonlySet<string> }
}

/** Begins the transaction and holds the heads; finds out which writes have happened before, if that is possible. */
function* open(writes: readonly Write[], context: BatchContext): Steps<Opened> {
  const { statements, now } = context
  const events = newEvents(writes)
  const cold = [...events].filter(([runId]) => context.hot?.get(runId) === undefined)
  // Of a new run only its creation is asked for: whether the id is taken shows when its row is inserted.
  const existing = new Set(writes.filter(({ kind }) => kind !== 'create').map(({ runId }) => runId))
  const locked = cold.map(([runId]) => runId).filter((runId) => existing.has(runId))
  const first = firstAppends(writes, context)
  const unknown = cold.filter(([runId]) => context.recent?.get(runId) === undefined && !first.has(runId))
  const selects = unknown.flatMap(([runId, own]) => selectsBefore(runId, own, context))
  const asked = context.again ? writes.filter((write) => write.kind !== 'release') : []
  const hashes = toChunks(listHashes(writes))
  // A new run has no row that returns the time.
  const asksTime = statements.hasClock && writes.some((write) => write.kind === 'create')
  const [, ...answers] = [
    ...(yield [
      context.begin,
      ...(locked.length > 0 ? [statements.lockHeads({ now }, locked)] : []),
      ...selects.map(({ statement }) => statement),
      ...(asksTime ? [statements.now({ now })] : []),
      ...asked.map(({ runId, ...write }) =>
        statements.writeIdAt({ runId, seq: write.kind === 'append' ? write.append.expectedSeq + 1 : 1 }),
      ),
      ...hashes.map((some) => statements.knownValues({}, some)),
    ]),
  ]
  const headRows = locked.length > 0 ? (answers.shift() ?? []) : []
  const runs = new Map<string, OpenRun>()
  const kept: Opened['kept'] = new Map()
  for (const runId of events.keys()) {
    const hot = context.hot?.get(runId)
    if (!hot) continue
    runs.set(runId, openRun(hot.head))
    kept.set(runId, hot)
  }
  for (const row of headRows as unknown as LockedRow[]) runs.set(row.run_id, openRun(toCore(row)))
  const before = rowsBefore(selects, answers.splice(0, selects.length))
  const time = (asksTime ? answers.shift() : headRows)?.[0]?.['now']
  const results = new Map<Write, WriteResult>()
  const known = answers.splice(asked.length).flatMap((rows) => rows.map(({ hash }) => String(hash)))
  const values = { known: new Set(known), asked: new Set(hashes.flat()) }
  for (const [index, write] of asked.entries()) {
    if (answers[index]?.[0]?.['write_id'] === write.writeId) results.set(write, happened(write))
  }
  if (context.recent) yield* keepRecent(cold, { runs, before, kept }, { ...context, recent: context.recent })
  const planned = [...first].filter((runId) => !isUnplanned(runs.get(runId)?.head))
  for (const runId of planned) first.delete(runId)
  yield* readLate(
    cold.filter(([runId]) => planned.includes(runId) && !kept.has(runId)),
    before,
    context,
  )
  for (const row of headRows as unknown as LockedRow[])
    if (row.nodes_seq !== null && !kept.has(row.run_id))
      kept.set(row.run_id, yield* readLagging(toCore(row), row.nodes_seq, { events, context }))
  return { runs, results, before, kept, first, values, now: typeof time === 'number' ? time : now }
}

/** The large values of the events of all writes. */
function listHashes(writes: readonly Write[]): Set<string> {
  const hashes = new Set<string>()
  for (const write of writes)
    if (write.kind !== 'release') for (const hash of write.encoded.values.keys()) hashes.add(hash)
  return hashes
}

/** Whether the run has started and nothing else, so that it has no rows of nodes, asks and plans. */
function isUnplanned(head: HeadCore | undefined): boolean {
  return head !== undefined && head.seq === 1 && head.planVersion === 0 && head.status === 'pending'
}

/** Reads the rows that were not asked for together with the locks. */
function* readLate(
  runs: readonly (readonly [runId: string, events: readonly NewEvent[]])[],
  before: Map<string, RowsBefore>,
  context: BatchContext,
): Steps<void> {
  const selects = runs.flatMap(([runId, events]) => selectsBefore(runId, events, context))
  if (selects.length === 0) return
  const answers = yield selects.map(({ statement }) => statement)
  for (const [runId, rows] of rowsBefore(selects, answers)) before.set(runId, rows)
}

/** Reads the rows of a run that lag behind its events, and these events. */
function* readLagging(
  head: HeadCore,
  nodesSeq: number,
  {
    events,
    context,
  }: { readonly events: ReadonlyMap<string, readonly NewEvent[]>; readonly context: BatchContext },
): Steps<Before & { readonly lag: Lag }> {
  const { runId } = head
  const selects = selectsBefore(runId, events.get(runId) ?? [], context, true)
  const range = { runId, after: nodesSeq, until: head.seq, before: head.seq + 1 }
  const [journal = [], ...answers] = yield [
    context.reads.events(range),
    ...selects.map(({ statement }) => statement),
  ]
  const rows = rowsBefore(selects, answers).get(runId)
  const values = yield* loadValues([...journal, ...listRows(rows)], context.reads)
  return catchUp(head, {
    before: rows === undefined ? nothing : readBefore(rows, values),
    nodesSeq,
    events: (journal as unknown as EventTable[])
      .flatMap((row) => toEvents(row, values))
      .filter(({ seq }) => seq > nodesSeq),
  })
}

/** Decides whether the rows of nodes are written with this commit. */
function settleNodes(
  run: OpenRun,
  changes: Changes,
  { kept, first, cache }: Pick<Opened, 'kept' | 'first'> & { readonly cache: HotRuns | undefined },
): void {
  const { runId } = run.head
  const begins = run.begins || first.has(runId)
  const isCached = begins || cache?.get(runId) !== undefined
  const lag = kept.get(runId)?.lag ?? { seq: begins ? 0 : run.stored.seq, rows: [] }
  if (cache !== undefined && isCached && mayLag(run.head, lag.seq)) run.nodesSeq = lag.seq
  else run.nodes = withChanges(lag.rows, listNodeChanges(changes))
}

/**
 * Runs whose only write in the batch expects that they have started and nothing else. It is refused if that is not so; after a
 * try that may have been committed, nothing is certain.
 */
function firstAppends(writes: readonly Write[], { again }: BatchContext): Set<string> {
  const first = new Set<string>()
  if (again) return first
  const seen = new Set<string>()
  for (const write of writes) {
    const isFirst = write.kind === 'append' && write.append.expectedSeq === 1 && !seen.has(write.runId)
    if (isFirst) first.add(write.runId)
    else first.delete(write.runId)
    seen.add(write.runId)
  }
  return first
}

/**
 * Takes the rows of held runs from the cache. Rows change only with an append, which raises the sequence number of the head;
 * so the rows of a run that another process has written meanwhile are read after all.
 */
function* keepRecent(
  cold: readonly (readonly [runId: string, events: readonly NewEvent[]])[],
  { runs, before, kept }: Pick<Opened, 'runs' | 'before' | 'kept'>,
  context: BatchContext & { readonly recent: HotRuns },
): Steps<void> {
  const { recent } = context
  const outdated: (readonly [string, readonly NewEvent[]])[] = []
  for (const [runId, events] of cold) {
    const known = recent.get(runId)
    const head = runs.get(runId)?.head
    if (known === undefined || head === undefined) continue
    if (isSameHead(known.head, head)) kept.set(runId, known)
    else outdated.push([runId, events])
  }
  if (outdated.length === 0) return
  recent.forget(outdated.map(([runId]) => runId))
  yield* readLate(outdated, before, context)
}

function isSameHead(one: HeadCore, other: HeadCore): boolean {
  return one.seq === other.seq && one.epoch === other.epoch && one.createdAt === other.createdAt
}

/** Returns the new events of each run; a run that is created has no rows to read. */
function newEvents(writes: readonly Write[]): Map<string, NewEvent[]> {
  const events = new Map<string, NewEvent[]>()
  for (const write of writes) {
    const own = events.get(write.runId) ?? []
    // One by one, here and below: an append may have more events than a call may have arguments.
    if (write.kind === 'append') for (const event of write.append.events) own.push(event)
    events.set(write.runId, own)
  }
  return events
}

function happened(write: Write): WriteResult {
  if (write.kind === 'append') {
    return { kind: 'appended', seq: write.append.expectedSeq + write.append.events.length }
  }
  return write.kind === 'create' ? created(write) : { kind: 'released' }
}

/** A run that another process is just creating is waited for here; then it is taken. */
function* createRuns(
  writes: readonly Write[],
  { runs, results, now }: Opened,
  { statements, hot, isCompact }: BatchContext,
): Steps<void> {
  const creates: Create[] = []
  const ids = new Set(runs.keys())
  for (const write of writes) {
    if (write.kind !== 'create' || results.has(write)) continue
    if (ids.has(write.runId)) results.set(write, { kind: 'taken' })
    else creates.push(write)
    ids.add(write.runId)
  }
  if (creates.length === 0) return
  // In one order by everybody, as the locks are.
  creates.sort((one, other) => (one.runId < other.runId ? -1 : 1))
  const heads = creates.map(({ run }) => firstHead(run, now))
  const inserted = yield* askAll<Pick<RunTable, 'run_id'>>(
    statements.insertHeads(
      creates.map((write, index) => ({
        claim_id: null,
        ...headRow(heads[index] as StoredHead),
        nodes_seq: isCompact && hot !== undefined && mayLag(heads[index] as StoredHead, 0) ? 0 : null,
        ...policyColumns(readEnvelope(write)),
      })),
    ),
  )
  const ours = new Set(inserted.map(({ run_id }) => run_id))
  for (const [index, write] of creates.entries()) {
    const head = heads[index] as StoredHead
    const taken = !ours.has(write.runId)
    results.set(write, taken ? { kind: 'taken' } : created(write))
    if (taken) continue
    const run = openRun(head, true)
    accept(run, write, { after: 0, head, isCompact })
    runs.set(write.runId, run)
  }
}

function created({ run }: Create): WriteResult {
  return {
    kind: 'created',
    seq: run.events.length,
    ...(run.claim !== undefined && { lease: firstLease(run.claim.owner) }),
  }
}

function firstLease(owner: string): Lease {
  return { owner, epoch: 1 }
}

function readEnvelope({ run }: Create) {
  return run.events.find((event) => event.type === 'start')?.payload.envelope
}

function judge(
  write: Write,
  run: OpenRun | undefined,
  { now, isCompact }: Pick<BatchContext, 'now' | 'isCompact'>,
): WriteResult {
  if (write.kind === 'append') {
    const refused = refusal(run?.head, write.append)
    if (run === undefined || refused !== undefined) return refused ?? { kind: 'missing' }
    accept(run, write, { after: run.head.seq, head: appended(run.head, write.append, now), isCompact })
    return { kind: 'appended', seq: run.head.seq }
  }
  if (write.kind === 'release' && run !== undefined && holds(run.head, write.lease)) {
    run.head = released(run.head)
    run.touched = true
  }
  return { kind: 'released' }
}

function openRun(head: HeadCore, begins = false): OpenRun {
  return {
    head,
    stored: head,
    begins,
    touched: false,
    nodes: [],
    nodesSeq: undefined,
    events: [],
    rows: [],
    values: new Map(),
    documents: [],
  }
}

function accept(
  run: OpenRun,
  write: Exclude<Write, { kind: 'release' }>,
  { after, head, isCompact }: { after: number; head: HeadCore; isCompact: boolean },
): void {
  const { runId, writeId, encoded } = write
  const events: Append['events'] = write.kind === 'create' ? write.run.events : write.append.events
  run.head = head
  run.touched = true
  for (const event of numbered(runId, after, events)) run.events.push(event)
  for (const row of eventRows(events, encoded.texts, { runId, after, writeId, isCompact })) run.rows.push(row)
  for (const [hash, body] of encoded.values) run.values.set(hash, body)
  const { documents = [] } = write.kind === 'create' ? write.run : write.append
  for (const document of documents)
    run.documents.push({ ...documentRow(document), change_id: writeId, now: head.updatedAt })
}

/** What the specifications want to see of an envelope beside its run: derived, and empty where the envelope says nothing. */
function policyColumns(envelope: Envelope | undefined): Pick<RunTable, 'persona' | 'variant_policy'> {
  const topology = envelope?.policies?.planner?.topology
  return {
    persona: getPersona(envelope) ?? null,
    variant_policy: topology?.variantCount === undefined ? null : JSON.stringify(topology),
  }
}

/** Who is written for; the flat policy `persona` became this input. */
function getPersona(envelope: Envelope | undefined): string | undefined {
  const profile: unknown = envelope?.inputs?.['audienceProfile']
  const said = isObject(profile) ? profile['persona'] : undefined
  const named = said ?? envelope?.metadata?.['persona']
  return typeof named === 'string' ? named : undefined
}
