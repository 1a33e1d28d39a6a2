/** The Store on a SQL database: everything but the connection (`SqlDriver`) and the dialect (`SqlDialect`). */
import { randomBytes } from 'node:crypto'
import { joined } from '../../../base/json.ts'
import { numbered } from '../../../domain/event/numbered.ts'
import type { JournalEvent } from '../../../domain/event.ts'
import type { Store, ThreadRow } from '../../../domain/ports/store.ts'
import { isSettled } from '../../../domain/status.ts'
import { publicHead } from '../projections/heads.ts'
import { listSpans } from '../projections/projections.ts'
import { defaultLimits } from '../shared/list-order.ts'
import { createErase, createFindRunsAbout } from './erase.ts'
import { type CommittedWrites, createGroupCommit, type GroupCommit } from './group-commit.ts'
import { createTails, type Tails } from './hot-runs.ts'
import { createHandover } from './leases/handover.ts'
import { createLeases } from './leases/leases.ts'
import { createSqlLedger } from './ledger.ts'
import type { TransactionEnds } from './operations.ts'
import { createPrune } from './prune.ts'
import { createReplaceReferences } from './reseal/reseal.ts'
import { loadValues } from './rows/load-values.ts'
import { readNodes } from './rows/read-nodes.ts'
import {
  toAsk,
  toAudit,
  toEvents,
  toHead,
  toMessage,
  toOutput,
  toSnapshot,
  type Values,
} from './rows/rows.ts'
import { createQueueInspection, createSample, createUsage } from './sample.ts'
import type { RunChange, SqlDriver } from './sql-driver.ts'
import { createSqlRecords } from './sql-records.ts'
import { createLeaseStatements } from './statements/lease-statements.ts'
import { createReadStatements, type ReadStatements } from './statements/read-statements.ts'
import { createTemplates } from './statements/templates.ts'
import { createWriteStatements } from './statements/write-statements.ts'
import { ask, type Statement, type Steps } from './steps.ts'
import type {
  AskTable,
  AuditTable,
  EventTable,
  MessageTable,
  OutputTable,
  RunTable,
  SnapshotTable,
} from './tables.ts'
import { writeBatch } from './write/write-batch.ts'
import { encodeEvents, mostPacked, type Write, type WriteResult } from './writes.ts'

export function createSqlStore(driver: SqlDriver): Store {
  const { builder, dialect, hot, recent, listeners, ledger = false } = driver
  const reads = createReadStatements(builder, createTemplates('r', dialect.lists))
  // Once: prepared statements are named by their number.
  const leases = createLeaseStatements(builder, dialect)
  const tails = createTails()
  const ends: TransactionEnds = {
    begin: { sql: dialect.begin, parameters: [] },
    commit: { sql: 'commit', parameters: [] },
  }
  const nextName = createNames()
  const group = createWriteGroup(driver, { reads, ends, tails })
  const prune = createPrune(driver, ends)
  const erase = createErase(driver, ends)
  const replaceReferences = createReplaceReferences(driver, ends)
  let closing: Promise<void> | undefined

  return {
    name: dialect.name,
    records: createSqlRecords(driver, nextName, ends),
    ...createRunWriter(group, nextName),
    ...createLeases(driver, leases, nextName),
    ...(driver.isShared && { handover: createHandover(driver, leases, nextName) }),
    ...createRunReader(driver, reads),
    read: async (runId, after, limit = defaultLimits.events) =>
      // With several writers the database may have more.
      (hot && closing === undefined ? tails.read(runId, after, limit) : undefined) ??
      readEvents(driver, reads, { runId, after, limit }),
    readRecent(runId, after, limit = defaultLimits.events) {
      const events = closing === undefined ? tails.read(runId, after, limit) : undefined
      return events === undefined || events.length === 0 ? undefined : events
    },
    onChange: (listener) => listeners.add(listener),
    sample: createSample(driver),
    usage: createUsage(driver),
    inspectQueue: createQueueInspection(driver),
    ...(ledger && { ledger: createSqlLedger(driver) }),
    prune: (request) => prune(request).finally(() => tails.forget()),
    findRunsAbout: createFindRunsAbout(driver, reads),
    replaceReferences: (request) => replaceReferences(request).finally(() => tails.forget()),
    erase: (request) =>
      erase(request).finally(() => {
        hot?.forget()
        recent?.forget()
        tails.forget()
      }),

    close() {
      driver.closing?.()
      closing ??= group.close().then(() => {
        listeners.clear()
        return driver.close()
      })
      return closing
    },
  }
}

/** Makes names that no other process makes, without asking the database or the system. */
function createNames(): () => string {
  const prefix = randomBytes(9).toString('base64url')
  let names = 0
  return () => {
    names += 1
    return `${prefix}${names.toString(36)}`
  }
}

interface WriteGroupParts {
  readonly reads: ReadStatements
  readonly ends: TransactionEnds
  readonly tails: Tails
}

/**
 * Commits concurrent writes together. New runs have a connection of their own, if there are several: a caller waits for the
 * answer, and a commit of few new rows is soon done.
 */
function createWriteGroup(driver: SqlDriver, parts: WriteGroupParts): GroupCommit<Write, WriteResult> {
  const { lanes } = driver.group
  const commit = createCommit(driver, parts)
  const createGroup = (own: number) =>
    createGroupCommit<Write, WriteResult>({
      ...driver.group,
      lanes: own,
      comesFirst: isCreation,
      canBeAhead,
      isAhead: (result) => result.kind === 'appended' && result.durable !== undefined,
      commit,
    })
  if (lanes === 1) return createGroup(1)
  const creations = createGroup(1)
  const others = createGroup(lanes - 1)
  return {
    submit: (write) => (isCreation(write) ? creations : others).submit(write),
    close: () => Promise.all([creations.close(), others.close()]).then(() => {}),
  }
}

function isCreation({ kind }: Write): boolean {
  return kind === 'create'
}

/** Whether the write may be answered before it is on the disk; not if it also releases the run, or adds documents to send. */
function canBeAhead(write: Write | undefined): boolean {
  if (write?.kind !== 'append') return false
  const { append } = write
  return append.canBeAhead === true && !append.release && append.documents === undefined
}

/** Whether the run waits for a process that claims it: the writer has no lease, or releases it while the run has work. */
function isFree(write: Write): boolean {
  if (write.kind === 'create') return write.run.claim === undefined
  if (write.kind === 'release' || !write.append.lease) return write.kind === 'append'
  const { release, head } = write.append
  return (
    release === true && head.wakeAt !== undefined && (head.status === 'running' || head.status === 'pending')
  )
}

/** Commits writes in one transaction, and notifies listeners when they are on the disk. */
function createCommit(
  driver: SqlDriver,
  { reads, ends, tails }: WriteGroupParts,
): (writes: readonly Write[]) => Promise<CommittedWrites<WriteResult>> {
  const { chain, hot, recent, listeners, ledger = false } = driver
  const statements = createWriteStatements(driver.builder, driver.dialect)
  const context = {
    ...ends,
    isCompact: driver.isShared !== true,
    statements,
    reads,
    ledger,
    ...(hot && { hot }),
    ...(recent && { recent }),
    ...(chain && { chain }),
  }
  const forget = () => {
    hot?.forget()
    tails.forget()
  }
  const forgetAndThrow = (error: unknown): never => {
    forget()
    throw error
  }
  const publish = (writes: readonly Write[], results: readonly WriteResult[]) => {
    const changed = new Map<string, RunChange>()
    for (const [index, write] of writes.entries()) {
      const result = results[index]
      // An append of the same commit is still news.
      const { seq = 0, isSettled: settled = false } = changed.get(write.runId) ?? {}
      if (result?.kind === 'released') changed.set(write.runId, { seq, isFree: true, isSettled: settled })
      if (result?.kind !== 'appended' && result?.kind !== 'created') continue
      const settles = write.kind === 'append' && isSettled(write.append.head.status)
      changed.set(write.runId, { seq: result.seq, isFree: isFree(write), isSettled: settled || settles })
      if (write.kind !== 'release') keepTail(tails, write, result.seq)
    }
    if (changed.size > 0) driver.notifyOthers(changed)
    for (const [runId, change] of changed)
      if (change.seq > 0) listeners.notify(runId, change.seq, undefined, change.isSettled)
  }
  return async (writes) => {
    const steps = (again: boolean) => writeBatch(writes, joined(context, { now: driver.now(), again }))
    if (driver.transactionAhead === undefined) {
      const results = await driver.transaction(steps).catch(forgetAndThrow)
      publish(writes, results)
      return { results }
    }
    let resolve = () => {}
    const durable = new Promise<void>((done) => {
      resolve = done
    })
    const onDurable = (written: readonly WriteResult[], refusal: unknown) => {
      if (refusal !== undefined) return forget()
      publish(writes, written)
      resolve()
    }
    const { result, whenDurable } = await driver.transactionAhead(steps, onDurable).catch(forgetAndThrow)
    const results = result.map((each, index) =>
      each.kind === 'appended' && canBeAhead(writes[index]) ? { ...each, durable } : each,
    )
    return { results, whenDurable: () => whenDurable().catch(forgetAndThrow) }
  }
}

function createRunWriter(
  group: GroupCommit<Write, WriteResult>,
  nextName: () => string,
): Pick<Store, 'create' | 'append' | 'release'> {
  return {
    async create(run) {
      const { runId } = run
      const encoded = encodeEvents(run.events)
      const result = await group.submit({ kind: 'create', writeId: nextName(), runId, run, encoded })
      return result.kind === 'created' ? (result.lease ?? true) : false
    },

    async append(append) {
      const { runId } = append
      const encoded = encodeEvents(append.events)
      const result = await group.submit({ kind: 'append', writeId: nextName(), runId, append, encoded })
      if (result.kind === 'created' || result.kind === 'taken' || result.kind === 'released') {
        throw new TypeError(`An append cannot be ${result.kind}`)
      }
      return result
    },

    async release(runId, lease) {
      await group.submit({ kind: 'release', writeId: nextName(), runId, lease })
    },
  }
}

/** Aggregates are texts in some databases. */
interface SelectedThread {
  readonly thread_id: string
  readonly runs: unknown
  readonly created_at: unknown
  readonly updated_at: unknown
}

function toThread({ thread_id: threadId, runs, created_at, updated_at }: SelectedThread): ThreadRow {
  return { threadId, runs: Number(runs), createdAt: Number(created_at), updatedAt: Number(updated_at) }
}

type RunReader = Pick<
  Store,
  | 'head'
  | 'runs'
  | 'threads'
  | 'asks'
  | 'ask'
  | 'nodes'
  | 'snapshots'
  | 'output'
  | 'spans'
  | 'audit'
  | 'messages'
>

function createRunReader(driver: SqlDriver, reads: ReadStatements): RunReader {
  const rows = <R extends object, T>(statement: Statement, map: (row: R, values: Values) => T) =>
    queryRows(driver, reads, statement, map)
  return {
    async head(runId) {
      const [head] = await queryByKey<RunTable, ReturnType<typeof toHead>>(
        driver,
        reads,
        reads.head({ runId }),
        toHead,
      )
      return head === undefined ? undefined : publicHead(head)
    },
    runs: (query) =>
      rows<RunTable, ReturnType<typeof publicHead>>(reads.runs(query), (row) => publicHead(toHead(row))),
    threads: (query) => rows<SelectedThread, ThreadRow>(reads.threads(query), toThread),
    asks: (query) => rows<AskTable, ReturnType<typeof toAsk>>(reads.asks(query), toAsk),
    ask: async (requestId) =>
      (await rows<AskTable, ReturnType<typeof toAsk>>(reads.ask({ requestId }), toAsk))[0],
    nodes: (runId) => driver.run(() => readNodes(runId, reads)),
    snapshots: (runId) =>
      rows<SnapshotTable, ReturnType<typeof toSnapshot>>(reads.snapshots({ runId }), toSnapshot),
    output: async (runId) =>
      (await rows<OutputTable, ReturnType<typeof toOutput>>(reads.output({ runId }), toOutput))[0],
    async spans(runId) {
      const [head] = await rows<RunTable, ReturnType<typeof toHead>>(reads.head({ runId }), toHead)
      return head === undefined ? [] : listSpans(head, await readAll(driver, reads, runId))
    },
    audit: (runId) => rows<AuditTable, ReturnType<typeof toAudit>>(reads.audit({ runId }), toAudit),
    messages: async (runId, limit = defaultLimits.messages) =>
      (
        await rows<MessageTable, ReturnType<typeof toMessage>>(reads.messages({ runId, limit }), toMessage)
      ).reverse(),
  }
}

/** Returns all events of a run, a page at a time. */
async function readAll(driver: SqlDriver, reads: ReadStatements, runId: string): Promise<JournalEvent[]> {
  const events: JournalEvent[] = []
  const limit = defaultLimits.events
  for (let isMore = true; isMore; ) {
    const page = await readEvents(driver, reads, { runId, after: events.length, limit })
    for (const event of page) events.push(event)
    isMore = page.length === limit
  }
  return events
}

/** Returns events of a run after a sequence number. Numbers have no gaps, so a limit is a range of them. */
async function readEvents(
  { run, runByKey = run }: SqlDriver,
  reads: ReadStatements,
  { runId, after, limit }: { readonly runId: string; readonly after: number; readonly limit: number },
): Promise<JournalEvent[]> {
  const until = after + limit
  // The last row of the range may end with events behind it.
  const before = until + mostPacked
  const rows = await runByKey(() =>
    readRows<EventTable, JournalEvent[]>(reads, reads.events({ runId, after, until, before }), toEvents),
  )
  return rows.flat().filter(({ seq }) => seq > after && seq <= until)
}

/** Returns the rows of a query, with the large values that they refer to. */
function queryRows<R extends object, T>(
  driver: SqlDriver,
  reads: ReadStatements,
  statement: Statement,
  map: (row: R, values: Values) => T,
): Promise<T[]> {
  return driver.run(() => readRows(reads, statement, map))
}

/** The same for a query by key. */
function queryByKey<R extends object, T>(
  { run, runByKey = run }: SqlDriver,
  reads: ReadStatements,
  statement: Statement,
  map: (row: R, values: Values) => T,
): Promise<T[]> {
  return runByKey(() => readRows(reads, statement, map))
}

function* readRows<R extends object, T>(
  reads: ReadStatements,
  statement: Statement,
  map: (row: R, values: Values) => T,
): Steps<T[]> {
  const found = yield* ask<R>(statement)
  const values = yield* loadValues(found, reads)
  return found.map((row) => map(row, values))
}

/** Keeps the events of a write for readers that follow the run. */
function keepTail(tails: Tails, write: Exclude<Write, { kind: 'release' }>, seq: number): void {
  const { events } = write.kind === 'create' ? write.run : write.append
  let length = 0
  for (const text of write.encoded.texts) length += text.length
  for (const text of write.encoded.values.values()) length += text.length
  tails.wrote(write.runId, numbered(write.runId, seq - events.length, events), length)
}
