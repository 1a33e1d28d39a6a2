/**
 * Replaces the references of sealed secrets in the rows of runs, so that a previous key can be retired. What an event says
 * stays the same: only the ciphertext inside of its texts changes, and a reference is as long as the one it replaces. The
 * chain of commits and the audit of a run do not contain ciphertexts, so they stay valid.
 */
import { type Kysely, sql } from 'kysely'
import type { ReplaceReferences, ResealedRuns } from '../../../../domain/ports/store.ts'
import { hashText, references } from '../../shared/codec.ts'
import type { SqlDialect } from '../dialects/sql-dialect.ts'
import type { TransactionEnds } from '../operations.ts'
import { toChunks } from '../rows/chunk.ts'
import type { SqlDriver } from '../sql-driver.ts'
import { ask, askAll, type Row, type Statement, type Steps } from '../steps.ts'
import type { RunTable, Tables } from '../tables.ts'
import { findUnknownKeys } from './unknown-keys.ts'

/** Runs that are searched in one query: no index finds parts of texts. */
const pageSize = 100
/** Events that are read at once. */
const mostEvents = 500

/** Every run is one transaction: an interrupted call leaves whole runs, and the next call finds the rest. */
export function createReplaceReferences(
  driver: SqlDriver,
  ends: TransactionEnds,
): (request: ReplaceReferences) => Promise<ResealedRuns> {
  const statements = createResealStatements(driver.builder, driver.dialect)
  return async ({ beginnings, replace, tenant, dryRun = false, onProgress, knownKeys }) => {
    const ofTenant = tenant === undefined ? {} : { tenant }
    const done = { runs: 0, underWay: 0, tenants: {} as Record<string, number> }
    const finish = async () =>
      knownKeys ? { ...done, unknownKeys: await findUnknownKeys(driver, { knownKeys, ...ofTenant }) } : done
    if (beginnings.length === 0) return finish()
    for (let after = ''; ; ) {
      const page = await driver.run(() => ask<Found>(statements.pageOfRuns(after, tenant)))
      const runIds = page.map(({ run_id }) => run_id)
      const hits = await findHits(driver, statements, { runIds, beginnings })
      for (const run of page.filter(({ run_id }) => hits.has(run_id))) {
        const state = dryRun
          ? toState(run)
          : await driver.transaction(() => resealRun(run.run_id, { statements, ends, beginnings, replace }))
        if (state === 'underWay') done.underWay++
        if (state !== 'idle') continue
        done.runs++
        done.tenants[run.tenant] = (done.tenants[run.tenant] ?? 0) + 1
        // Other requests have their turn.
        await new Promise((resolve) => setImmediate(resolve))
      }
      onProgress?.({ ...done })
      if (page.length < pageSize) return finish()
      after = runIds.at(-1) ?? ''
    }
  }
}

type Found = Pick<RunTable, 'run_id' | 'tenant' | 'lease_owner'>

async function findHits(
  driver: SqlDriver,
  statements: ResealStatements,
  { runIds, beginnings }: { readonly runIds: readonly string[]; readonly beginnings: readonly string[] },
): Promise<ReadonlySet<string>> {
  if (runIds.length === 0) return new Set()
  const found = await driver.run(() =>
    askAll<Pick<RunTable, 'run_id'>>(beginnings.map((text) => statements.runsWith(runIds, text))),
  )
  return new Set(found.map(({ run_id }) => run_id))
}

/** Processes keep rows of runs whose lease they hold, and would write the earlier references back. */
function toState({ lease_owner }: Pick<RunTable, 'lease_owner'>): 'idle' | 'underWay' {
  return lease_owner === null ? 'idle' : 'underWay'
}

interface ResealParts extends Pick<ReplaceReferences, 'beginnings' | 'replace'> {
  readonly statements: ResealStatements
  readonly ends: TransactionEnds
}

function* resealRun(runId: string, parts: ResealParts): Steps<'idle' | 'underWay' | 'gone'> {
  const { statements, ends } = parts
  const [, [head] = []] = yield [ends.begin, statements.lockHead(runId)]
  const state = head === undefined ? 'gone' : toState(head as unknown as Found)
  if (state === 'idle') {
    const replaceText = createReplacer(runId, parts)
    const values = yield* resealValues(runId, replaceText, statements)
    const replaceAll = (text: string) => replaceText(replaceHashes(text, values))
    for (const table of Object.keys(rowKeys) as RunRows[]) {
      if (table === 'flex_events') continue
      yield* resealRows(table, yield* ask<Row>(statements.rowsOf(table, runId)), { replaceAll, statements })
    }
    for (let after = 0; ; ) {
      const events: Row[] = yield* ask<Row>(statements.eventsAfter(runId, after))
      yield* resealRows('flex_events', events, { replaceAll, statements })
      if (events.length < mostEvents) break
      after = Number(events.at(-1)?.['seq'])
    }
  }
  yield [ends.commit]
  return state
}

type ReplaceText = (text: string) => string

/** References have no characters that JSON escapes, so they are found in the text of a column. */
function createReplacer(
  runId: string,
  { beginnings, replace }: Pick<ResealParts, 'beginnings' | 'replace'>,
): ReplaceText {
  return (text) => {
    if (!beginnings.some((beginning) => text.includes(beginning))) return text
    return text.replace(/\[sealed:v1\.[\da-f]{8}\.[\w-]+\]/g, (reference) =>
      beginnings.some((beginning) => reference.startsWith(beginning)) ? replace(runId, reference) : reference,
    )
  }
}

function replaceHashes(text: string, values: ReadonlyMap<string, string>): string {
  if (values.size === 0) return text
  return references(text).reduce((now, hash) => {
    const next = values.get(hash)
    return next === undefined ? now : now.replaceAll(`{"$value":"${hash}"}`, `{"$value":"${next}"}`)
  }, text)
}

/**
 * Large values are stored under the hash of their text, so a changed one gets another hash, and so does every value that
 * refers to it. Returns the new hashes by the old ones. A reference belongs to one run, so no other run has such a value;
 * one that does keeps its row.
 */
function* resealValues(
  runId: string,
  replaceText: ReplaceText,
  statements: ResealStatements,
): Steps<ReadonlyMap<string, string>> {
  const used = yield* ask<{ hash: string }>(statements.usedValues(runId))
  const bodies = new Map<string, string>()
  for (const some of toChunks(used.map(({ hash }) => hash)))
    for (const { hash, body } of yield* ask<{ hash: string; body: string }>(statements.bodies(some)))
      bodies.set(hash, body)
  const changed = new Map<string, string>()
  const texts = new Map<string, string>()
  const visited = new Set<string>()
  const visit = (hash: string) => {
    const body = bodies.get(hash)
    if (body === undefined || visited.has(hash)) return
    visited.add(hash)
    for (const inner of references(body)) visit(inner)
    const text = replaceText(replaceHashes(body, changed))
    if (text === body) return
    const next = hashText(text)
    changed.set(hash, next)
    texts.set(next, text)
  }
  for (const hash of bodies.keys()) visit(hash)
  for (const [hash, body] of texts) yield statements.addValue({ hash, body, runId })
  for (const hash of changed.keys()) yield statements.dropValue({ hash, runId })
  return changed
}

function* resealRows(
  table: RunRows,
  rows: readonly Row[],
  { replaceAll, statements }: { readonly replaceAll: ReplaceText; readonly statements: ResealStatements },
): Steps<void> {
  const updates = rows.flatMap((row) => {
    const changes = Object.entries(row).flatMap(([column, value]) => {
      const next = typeof value === 'string' ? replaceAll(value) : value
      return next === value ? [] : [[column, next] as const]
    })
    return changes.length === 0 ? [] : [statements.update(table, row, Object.fromEntries(changes))]
  })
  if (updates.length > 0) yield updates
}

/** The rows of a run that may have references, by the column of the run and the rest of the key. */
const rowKeys = {
  flex_runs: ['run_id'],
  flex_events: ['run_id', 'seq'],
  flex_plan_nodes: ['run_id', 'node_id', 'plan_version'],
  flex_plan_snapshots: ['run_id', 'seq'],
  flex_run_outputs: ['run_id'],
  hitl_requests: ['run_id', 'request_id'],
  hitl_events: ['run_id', 'seq'],
  spans: ['run_id', 'span_id'],
  agent_messages: ['flex_run_id', 'message_id'],
  flex_documents: ['run_id', 'key_hash'],
} as const satisfies { readonly [table in keyof Tables]?: readonly [string, ...string[]] }

type RunRows = keyof typeof rowKeys

type ResealStatements = ReturnType<typeof createResealStatements>

function createResealStatements(db: Kysely<Tables>, { locks }: Pick<SqlDialect, 'locks'>) {
  const has = (column: string, text: string) =>
    sql<boolean>`${sql.ref(column)} like ${`%${text.replace(/[!%_]/g, '!$&')}%`} escape '!'`
  const ofRun = (hash: string, runId: string) => sql<boolean>`hash = ${hash} and run_id = ${runId}`
  return {
    pageOfRuns(after: string, tenant: string | undefined): Statement {
      const query = db
        .selectFrom('flex_runs')
        .select(['run_id', 'tenant', 'lease_owner'])
        .where('run_id', '>', after)
      const filtered = tenant === undefined ? query : query.where('tenant', '=', tenant)
      return filtered.orderBy('run_id').limit(pageSize).compile()
    },
    /** Runs whose journal has a text; all other rows are made from the journal. */
    runsWith: (runIds: readonly string[], text: string): Statement =>
      db
        .selectFrom('flex_events')
        .select('flex_events.run_id')
        .where('flex_events.run_id', 'in', runIds)
        .where(({ or }) => or([has('flex_events.payload', text), has('flex_events.message', text)]))
        .union(
          db
            .selectFrom('flex_value_uses')
            .innerJoin('flex_values', 'flex_values.hash', 'flex_value_uses.hash')
            .select('flex_value_uses.run_id')
            .where('flex_value_uses.run_id', 'in', runIds)
            .where(has('flex_values.body', text)),
        )
        .compile(),
    /** Appends lock the same row. */
    lockHead: (runId: string): Statement =>
      locks
        .forUpdate(db.selectFrom('flex_runs').select(['run_id', 'lease_owner']).where('run_id', '=', runId))
        .compile(),
    rowsOf: (table: RunRows, runId: string): Statement =>
      db.selectFrom(table).selectAll().where(sql.ref(rowKeys[table][0]), '=', runId).compile(),
    eventsAfter: (runId: string, after: number): Statement =>
      db
        .selectFrom('flex_events')
        .select(['run_id', 'seq', 'payload', 'message'])
        .where('run_id', '=', runId)
        .where('seq', '>', after)
        .orderBy('seq')
        .limit(mostEvents)
        .compile(),
    usedValues: (runId: string): Statement =>
      db.selectFrom('flex_value_uses').select('hash').where('run_id', '=', runId).compile(),
    bodies: (hashes: readonly string[]): Statement =>
      db.selectFrom('flex_values').select(['hash', 'body']).where('hash', 'in', hashes).compile(),
    addValue: ({ hash, body, runId }: { hash: string; body: string; runId: string }): Statement[] => [
      db
        .insertInto('flex_values')
        .values({ hash, body })
        .onConflict((conflict) => locks.keepExistingValue(conflict))
        .compile(),
      db
        .insertInto('flex_value_uses')
        .values({ hash, run_id: runId })
        .onConflict((conflict) => conflict.columns(['hash', 'run_id']).doNothing())
        .compile(),
    ],
    dropValue: ({ hash, runId }: { hash: string; runId: string }): Statement[] => [
      db.deleteFrom('flex_value_uses').where(ofRun(hash, runId)).compile(),
      db
        .deleteFrom('flex_values')
        .where('hash', '=', hash)
        .where(({ not, exists, selectFrom }) =>
          not(exists(selectFrom('flex_value_uses').select('run_id').where('hash', '=', hash))),
        )
        .compile(),
    ],
    update(table: RunRows, row: Row, changes: Row): Statement {
      const [first, ...rest] = rowKeys[table]
      let query = db
        .updateTable(table)
        // Columns of the row that was read.
        .set(changes as never)
        .where(sql.ref(first), '=', row[first])
      for (const column of rest) query = query.where(sql.ref(column), '=', row[column])
      return query.compile()
    },
  }
}
