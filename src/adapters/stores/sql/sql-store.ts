/** A Store on a SQL database: everything that SQLite and PostgreSQL share, which is all but the connection. */
import { randomBytes } from 'node:crypto'
import { numbered } from '../../../domain/event/numbered.ts'
import type { Store } from '../../../domain/ports/store.ts'
import { publicHead } from '../projections/heads.ts'
import { defaultLimits } from '../shared/list-order.ts'
import { createGroupCommit } from './group-commit.ts'
import { createSqlLedger } from './ledger.ts'
import { createPrune } from './prune.ts'
import { toChunks } from './rows/chunk.ts'
import { loadValues } from './rows/load-values.ts'
import {
  toAsk,
  toAudit,
  toEvent,
  toHead,
  toMessage,
  toNode,
  toOutput,
  toSnapshot,
  type Values,
} from './rows/rows.ts'
import { toSpan } from './rows/span-rows.ts'
import { createSample } from './sample.ts'
import type { SqlDriver } from './sql-driver.ts'
import { createSqlRecords } from './sql-records.ts'
import { createLeaseStatements } from './statements/lease-statements.ts'
import { createReadStatements } from './statements/read-statements.ts'
import { createWriteStatements } from './statements/write-statements.ts'
import { ask, askAll, type Statement } from './steps.ts'
import type {
  AskTable,
  AuditTable,
  EventTable,
  MessageTable,
  NodeTable,
  OutputTable,
  RunTable,
  SnapshotTable,
  SpanTable,
} from './tables.ts'
import { createTails, type Tails } from './tails.ts'
import { writeBatch } from './write/write-batch.ts'
import { encodeEvents, type Write, type WriteResult } from './writes.ts'

export function createSqlStore(driver: SqlDriver): Store {
  const { builder, dialect, hot, listeners, ledger = false } = driver
  const writeStatements = createWriteStatements(builder, dialect)
  const reads = createReadStatements(builder)
  const leases = createLeaseStatements(builder, dialect)
  const tails = hot && createTails()
  const begin: Statement = { sql: dialect.begin, parameters: [] }
  const commit: Statement = { sql: 'commit', parameters: [] }

  // Names that no other process makes, and that cost nothing to make.
  const prefix = randomBytes(9).toString('base64url')
  let names = 0
  const nextName = () => {
    names += 1
    return `${prefix}${names.toString(36)}`
  }

  const group = createGroupCommit<Write, WriteResult>({
    ...driver.group,
    // A caller waits for the answer to its new run.
    comesFirst: ({ kind }) => kind === 'create',
    async commit(writes) {
      const statements = writeStatements
      const results = await driver
        .transaction((again) => {
          const now = driver.now()
          return writeBatch(writes, {
            begin,
            commit,
            statements,
            reads,
            ledger,
            now,
            again,
            ...(hot && { hot }),
          })
        })
        .catch((error: unknown) => {
          hot?.forget()
          tails?.forget()
          throw error
        })
      const changed = new Map<string, number>()
      for (const [index, write] of writes.entries()) {
        const result = results[index]
        if (result?.kind !== 'appended' && result?.kind !== 'created') continue
        changed.set(write.runId, result.seq)
        if (tails && write.kind !== 'release') keepTail(tails, write, result.seq)
      }
      if (changed.size > 0) driver.notifyOthers(changed)
      for (const [runId, seq] of changed) listeners.notify(runId, seq)
      return results
    },
  })

  /** Rows of a query, with the large values that they refer to. */
  const rows = <R extends object, T>(
    statement: Statement,
    map: (row: R, values: Values) => T,
  ): Promise<T[]> =>
    driver.run(function* () {
      const found = yield* ask<R>(statement)
      const values = yield* loadValues(found, reads)
      return found.map((row) => map(row, values))
    })

  const prune = createPrune(driver, { begin, commit })
  let closing: Promise<void> | undefined

  return {
    name: dialect.name,
    records: createSqlRecords(driver, nextName),
    prune: (request) => prune(request).finally(() => tails?.forget()),

    async create(run) {
      const encoded = encodeEvents(run.events)
      const result = await group.submit({
        kind: 'create',
        writeId: nextName(),
        runId: run.runId,
        run,
        encoded,
      })
      return result.kind === 'created' ? (result.lease ?? true) : false
    },

    async append(append) {
      const encoded = encodeEvents(append.events)
      const result = await group.submit({
        kind: 'append',
        writeId: nextName(),
        runId: append.runId,
        append,
        encoded,
      })
      if (result.kind === 'created' || result.kind === 'taken' || result.kind === 'released') {
        throw new TypeError(`An append cannot be ${result.kind}`)
      }
      return result
    },

    async release(runId, lease) {
      await group.submit({ kind: 'release', writeId: nextName(), runId, lease })
    },

    read: async (runId, after, limit = defaultLimits.events) =>
      (closing === undefined ? tails?.read(runId, after, limit) : undefined) ??
      rows<EventTable, ReturnType<typeof toEvent>>(reads.events({ runId, after, limit }), toEvent),

    async head(runId) {
      const [head] = await rows<RunTable, ReturnType<typeof toHead>>(reads.head({ runId }), toHead)
      return head === undefined ? undefined : publicHead(head)
    },

    runs: (query) =>
      rows<RunTable, ReturnType<typeof publicHead>>(reads.runs(query), (row) => publicHead(toHead(row))),

    async claim({ owner, leaseMs, limit, runId, except }) {
      const claimId = nextName()
      const taken = await driver.run(function* (again) {
        type Taken = Pick<RunTable, 'run_id' | 'lease_epoch'>
        if (again) {
          const before = yield* ask<Taken>(leases.claimed({ owner, claimId }))
          if (before.length > 0) return before
        }
        const values = { owner, leaseMs, limit, runId, except, claimId, now: driver.now() }
        return yield* ask<Taken>(leases.claim(values))
      })
      hot?.forget(taken.map((row) => row.run_id))
      return taken.map((row) => ({ runId: row.run_id, lease: { owner, epoch: row.lease_epoch } }))
    },

    async renew({ owner, leaseMs, runIds }) {
      if (runIds.length === 0) return []
      const now = driver.now()
      const held = await driver.run(() =>
        askAll<Pick<RunTable, 'run_id'>>(
          toChunks(runIds).map((some) => leases.renew({ owner, leaseMs, now }, some)),
        ),
      )
      const ids = held.map((row) => row.run_id)
      hot?.renewed(ids, now + leaseMs)
      return ids
    },

    async nextWake({ except } = {}) {
      const [row] = await driver.run(() => ask<{ due_at: number }>(leases.nextWake(except)))
      return row?.due_at
    },

    onChange: (listener) => listeners.add(listener),

    asks: (query) => rows<AskTable, ReturnType<typeof toAsk>>(reads.asks(query), toAsk),
    ask: async (requestId) =>
      (await rows<AskTable, ReturnType<typeof toAsk>>(reads.ask({ requestId }), toAsk))[0],
    nodes: (runId) => rows<NodeTable, ReturnType<typeof toNode>>(reads.nodes({ runId }), toNode),
    snapshots: (runId) =>
      rows<SnapshotTable, ReturnType<typeof toSnapshot>>(reads.snapshots({ runId }), toSnapshot),
    output: async (runId) =>
      (await rows<OutputTable, ReturnType<typeof toOutput>>(reads.output({ runId }), toOutput))[0],
    spans: (runId) => rows<SpanTable, ReturnType<typeof toSpan>>(reads.spans({ runId }), toSpan),
    audit: (runId) => rows<AuditTable, ReturnType<typeof toAudit>>(reads.audit({ runId }), toAudit),
    messages: async (runId, limit = defaultLimits.messages) =>
      (
        await rows<MessageTable, ReturnType<typeof toMessage>>(reads.messages({ runId, limit }), toMessage)
      ).reverse(),
    sample: createSample(driver),
    ...(ledger && { ledger: createSqlLedger(driver) }),

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

function keepTail(tails: Tails, write: Exclude<Write, { kind: 'release' }>, seq: number): void {
  const { events } = write.kind === 'create' ? write.run : write.append
  let length = 0
  for (const text of write.encoded.texts) length += text.length
  for (const text of write.encoded.values.values()) length += text.length
  tails.wrote(write.runId, numbered(write.runId, seq - events.length, events), length)
}
