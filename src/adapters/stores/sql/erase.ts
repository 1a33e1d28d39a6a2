/**
 * Erases runs from a SQL database: the rows, the large values that no other run uses, the stored answers about them, and the
 * bytes in the files. The rows of the operations audit (tombstones) are written in the transaction that deletes the runs.
 */
import { type Kysely, sql } from 'kysely'
import { isAboutSubject } from '../../../domain/envelope/subjects.ts'
import type { Erase, Erased, ErasedRun, SubjectQuery } from '../../../domain/ports/erase.ts'
import { isTerminal } from '../../../domain/status.ts'
import { tombstone } from '../shared/record-operations.ts'
import type { SqlDialect } from './dialects/sql-dialect.ts'
import { recordOperation, type TransactionEnds } from './operations.ts'
import { createPruneStatements, deleteRuns, groupByEvents, sweepValues } from './prune.ts'
import { toChunks } from './rows/chunk.ts'
import { loadValues } from './rows/load-values.ts'
import { toEvents } from './rows/rows.ts'
import type { SqlDriver } from './sql-driver.ts'
import type { ReadStatements } from './statements/read-statements.ts'
import { createRecordStatements } from './statements/record-statements.ts'
import { createTemplates } from './statements/templates.ts'
import { ask, askAll, type Statement, type Steps } from './steps.ts'
import type { EventTable, RunTable, Tables } from './tables.ts'

export function createErase(driver: SqlDriver, ends: TransactionEnds): (request: Erase) => Promise<Erased> {
  const statements = createEraseStatements(driver.builder, driver.dialect)
  const prune = createPruneStatements(
    driver.builder,
    driver.dialect,
    createTemplates('e', driver.dialect.lists),
  )
  const { operations } = createRecordStatements(driver.builder, driver.dialect, createTemplates('a'))

  /** The tombstones, and what is about the runs without naming them in a column. */
  function* finish(runs: readonly ErasedRun[], { by, receiptId }: Erase): Steps<number> {
    const ids = runs.map(({ runId }) => runId)
    const answers = yield* askAll(ids.map((runId) => statements.deleteAnswers(runId)))
    if (driver.ledger) yield ids.map((runId) => statements.deleteCorrections(runId))
    for (const run of runs)
      yield* recordOperation(operations, tombstone(run, { by, receiptId }), { now: driver.now() })
    return answers.length
  }

  return async (request) => {
    const found = await driver.run(() => findErasable(statements, request.runIds))
    const events = found.runs.reduce((sum, run) => sum + run.events, 0)
    if (request.dryRun)
      return { runs: found.runs, events, ...(await countParts(driver, statements, found)), residue: [] }
    let answers = 0
    const byId = new Map(found.runs.map((run) => [run.runId, run]))
    const rows = found.runs.map(({ runId, events: seq }) => ({ run_id: runId, seq }))
    for (const group of groupByEvents(rows)) {
      const runs = group.flatMap((runId) => byId.get(runId) ?? [])
      await driver.transaction(() =>
        deleteRuns(group, prune, {
          ...ends,
          chain: driver.chain,
          *also() {
            answers += yield* finish(runs, request)
          },
        }),
      )
    }
    const values = await sweepValues(driver, prune, ends)
    const sharedValues = await countExisting(driver, statements, found.hashes)
    return { runs: found.runs, events, values, sharedValues, answers, residue: await driver.purge() }
  }
}

interface Erasable {
  readonly runs: readonly ErasedRun[]
  /** Large values that the runs use. */
  readonly hashes: readonly string[]
}

function* findErasable(statements: EraseStatements, runIds: readonly string[]): Steps<Erasable> {
  const runs: ErasedRun[] = []
  const hashes = new Set<string>()
  for (const ids of toChunks(new Set(runIds))) {
    const [heads = [], audit = [], uses = []] = yield [
      statements.heads({}, ids),
      statements.auditHeads(ids),
      statements.uses(ids),
    ]
    const last = new Map(audit.map((row) => [row['run_id'], String(row['hash'])]))
    for (const { run_id, tenant, status, seq } of heads as unknown as RunTable[])
      if (isTerminal(status))
        runs.push({ runId: run_id, tenant, status, events: seq, auditHead: last.get(run_id) ?? '' })
    for (const row of uses) hashes.add(String(row['hash']))
  }
  return { runs, hashes: [...hashes] }
}

async function countParts(
  driver: SqlDriver,
  statements: EraseStatements,
  { runs, hashes }: Erasable,
): Promise<Pick<Erased, 'values' | 'sharedValues' | 'answers'>> {
  const ids = new Set(runs.map(({ runId }) => runId))
  const uses = await driver.run(() =>
    askAll<{ hash: string; run_id: string }>(toChunks(hashes).map((some) => statements.findUsers(some))),
  )
  const shared = new Set(uses.filter((use) => !ids.has(use.run_id)).map(({ hash }) => hash))
  const answers = await driver.run(() => askAll([...ids].map((runId) => statements.findAnswers(runId))))
  return { values: hashes.length - shared.size, sharedValues: shared.size, answers: answers.length }
}

async function countExisting(
  driver: SqlDriver,
  statements: EraseStatements,
  hashes: readonly string[],
): Promise<number> {
  const there = await driver.run(() => askAll(toChunks(hashes).map((some) => statements.existing({}, some))))
  return there.length
}

type EraseStatements = ReturnType<typeof createEraseStatements>

function createEraseStatements(db: Kysely<Tables>, { lists }: Pick<SqlDialect, 'lists'>) {
  const templates = createTemplates('f', lists)
  const answers = (runId: string) => sql<boolean>`body like ${containing(JSON.stringify(runId))} escape '!'`
  return {
    heads: templates.list<object, string>((_, runIds) =>
      db.selectFrom('flex_runs').select(['run_id', 'tenant', 'status', 'seq']).where('run_id', 'in', runIds),
    ),
    auditHeads: (runIds: readonly string[]): Statement =>
      db
        .selectFrom('hitl_events')
        .select(['run_id', 'hash'])
        .where('run_id', 'in', runIds)
        .orderBy('seq')
        .compile(),
    uses: (runIds: readonly string[]): Statement =>
      db.selectFrom('flex_value_uses').select('hash').where('run_id', 'in', runIds).compile(),
    findUsers: (hashes: readonly string[]): Statement =>
      db.selectFrom('flex_value_uses').select(['hash', 'run_id']).where('hash', 'in', hashes).compile(),
    existing: templates.list<object, string>((_, hashes) =>
      db.selectFrom('flex_values').select('hash').where('hash', 'in', hashes),
    ),
    findAnswers: (runId: string): Statement =>
      db.selectFrom('once_names').select('name_hash').where(answers(runId)).compile(),
    deleteAnswers: (runId: string): Statement =>
      db.deleteFrom('once_names').where(answers(runId)).returning('name_hash').compile(),
    deleteCorrections: (runId: string): Statement =>
      db
        .deleteFrom('correction_ledger')
        .where(sql<boolean>`id like ${`${escapeLike(runId)}:%`} escape '!'`)
        .compile(),
  }
}

const pageSize = 500

/**
 * Finds runs by the subject in their first event. The database selects candidates by text; only those are parsed. A large
 * event is stored apart and always parsed.
 */
export function createFindRunsAbout(
  driver: SqlDriver,
  reads: ReadStatements,
): (query: SubjectQuery) => Promise<string[]> {
  return async ({ subject, tenant }) => {
    const found: string[] = []
    for (let after = ''; ; ) {
      const page = candidates(driver.builder, { subject, after, ...(tenant !== undefined && { tenant }) })
      const events = await driver.run(function* () {
        const rows = yield* ask<EventTable>(page)
        const values = yield* loadValues(rows, reads)
        return rows.flatMap((row) => toEvents(row, values))
      })
      for (const event of events)
        if (event.type === 'start' && isAboutSubject(event.payload.envelope, subject)) found.push(event.runId)
      if (events.length < pageSize) return found
      after = events.at(-1)?.runId ?? ''
    }
  }
}

function candidates(
  db: Kysely<Tables>,
  { subject, tenant, after }: SubjectQuery & { readonly after: string },
): Statement {
  const named = containing(JSON.stringify(subject).slice(1, -1))
  let query = db
    .selectFrom('flex_events')
    .selectAll('flex_events')
    .where('flex_events.seq', '=', 1)
    .where('flex_events.run_id', '>', after)
    .where(
      sql<boolean>`(flex_events.payload like ${named} escape '!' or flex_events.payload like ${containing('{"$value":')} escape '!')`,
    )
  if (tenant !== undefined)
    query = query.where('flex_events.run_id', 'in', (eb) =>
      eb.selectFrom('flex_runs').select('flex_runs.run_id').where('flex_runs.tenant', '=', tenant),
    )
  return query.orderBy('flex_events.run_id').limit(pageSize).compile()
}

function containing(text: string): string {
  return `%${escapeLike(text)}%`
}

function escapeLike(text: string): string {
  return text.replace(/[!%_]/g, '!$&')
}
