/**
 * Deletes old runs that are over. Runs are deleted in transactions of a bounded number of events. Values follow: a value is
 * locked and its uses are checked again, so that an append that is about to use it has either recorded the use by then, or
 * waits and writes the value again (`write-statements.ts`).
 */

import { type ExpressionBuilder, type Kysely, sql } from 'kysely'
import type { Prune, Pruned } from '../../../domain/ports/store.ts'
import { isTerminal, terminalStatuses } from '../../../domain/status.ts'
import type { SqlDialect } from './dialects/sql-dialect.ts'
import type { TransactionEnds } from './operations.ts'
import type { CommitChain, SqlDriver } from './sql-driver.ts'
import { createTemplates, type Templates } from './statements/templates.ts'
import { ask, type Statement, type Steps } from './steps.ts'
import type { RunTable, Tables } from './tables.ts'

const pageSize = 500
/** A transaction deletes whole runs until they have had so many events; others have to wait meanwhile. */
const mostEvents = 5_000
const mostRuns = 100
const mostValues = 200

export function createPrune(
  driver: SqlDriver,
  { begin, commit }: TransactionEnds,
): (request: Prune) => Promise<Pruned> {
  const statements = createPruneStatements(driver.builder, driver.dialect)

  const walk = async (request: Prune, take: (runs: readonly SeenRun[]) => Promise<void>) => {
    for (let after: Walker | undefined; ; ) {
      const statement = statements.runsAfter(request, after, pageSize)
      const page = await driver.run(() => ask<SeenRun>(statement))
      await take(page.filter((run) => isOver(run, request)))
      after = page.at(-1)
      if (after === undefined || page.length < pageSize) return
    }
  }

  return async (request) => {
    let runs = 0
    let events = 0
    if (request.dryRun) {
      await walk(request, async (over) => {
        runs += over.length
        events += over.reduce((sum, { seq }) => sum + seq, 0)
      })
      const [row] = await driver.run(() => ask<{ count: unknown }>(statements.countUnused(request)))
      return { runs, events, values: Number(row?.count ?? 0) }
    }
    await walk(request, async (over) => {
      for (const group of groupByEvents(over)) {
        const gone = await driver.transaction(() =>
          deleteRuns(group, statements, { begin, commit, chain: driver.chain }),
        )
        runs += gone.length
        events += gone.reduce((sum, { seq }) => sum + seq, 0)
      }
    })
    return { runs, events, values: await sweepValues(driver, statements, { begin, commit }) }
  }
}

/** Deletes all values without references, and returns their number. */
export async function sweepValues(
  driver: SqlDriver,
  statements: PruneStatements,
  ends: TransactionEnds,
): Promise<number> {
  let values = 0
  for (let after: string | undefined = ''; after !== undefined; ) {
    const from: string = after
    const swept: Swept = await driver.transaction(() => sweep(from, statements, ends))
    values += swept.gone
    after = swept.last
  }
  return values
}

/** A run that is over is immutable. */
function isOver({ status, updated_at }: SeenRun, { before, status: wanted }: Prune): boolean {
  return isTerminal(status) && updated_at < before && (wanted === undefined || wanted.includes(status))
}

/** Splits runs into transactions of a bounded size. */
export function groupByEvents(over: readonly Pick<RunTable, 'run_id' | 'seq'>[]): string[][] {
  const found: string[][] = []
  let events = Number.POSITIVE_INFINITY
  for (const { run_id, seq } of over) {
    const last = found.at(-1)
    if (last === undefined || events + seq > mostEvents || last.length === mostRuns) {
      found.push([run_id])
      events = seq
    } else {
      last.push(run_id)
      events += seq
    }
  }
  return found
}

interface DeleteParts extends TransactionEnds {
  /** More work in the same transaction, last before the commit. */
  readonly also?: () => Steps<void>
  readonly chain?: CommitChain | undefined
}

export function* deleteRuns(
  runIds: readonly string[],
  statements: PruneStatements,
  { begin, commit, also, chain }: DeleteParts,
): Steps<Pick<SeenRun, 'run_id' | 'seq'>[]> {
  const [, rows = []] = yield [begin, statements.deleteHeads({}, runIds)]
  const gone = rows as unknown as Pick<SeenRun, 'run_id' | 'seq'>[]
  yield statements.deleteParts(runIds)
  if (also) yield* also()
  const deleted = gone.map(({ run_id, seq }) => ({ runId: run_id, seq }))
  const link = deleted.length > 0 ? chain?.linkDeleted(deleted) : undefined
  yield [...(link ? [link] : []), commit]
  chain?.linked()
  return gone
}

interface Swept {
  readonly gone: number
  /** Cursor for the next batch, if there may be more. */
  readonly last: string | undefined
}

function* sweep(
  after: string,
  statements: PruneStatements,
  { begin, commit }: TransactionEnds,
): Steps<Swept> {
  const [, rows = []] = yield [begin, statements.unusedValues({ after, limit: mostValues })]
  const held = rows.map((row) => String(row['hash']))
  if (held.length === 0) {
    yield [commit]
    return { gone: 0, last: undefined }
  }
  const [used = []] = yield [statements.usedAmong({}, held)]
  const kept = new Set(used.map((row) => row['hash']))
  const unused = held.filter((hash) => !kept.has(hash))
  yield [...(unused.length > 0 ? [statements.deleteValues({}, unused)] : []), commit]
  return { gone: unused.length, last: held.length < mostValues ? undefined : held.at(-1) }
}

type PruneStatements = ReturnType<typeof createPruneStatements>

/** Cursor over the runs in the order of their creation, which is indexed. */
type Walker = Pick<RunTable, 'created_at' | 'run_id'>
type SeenRun = Walker & Pick<RunTable, 'seq' | 'status' | 'updated_at'>

/** What belongs to a run besides its head. */
const parts = [
  ['flex_events', 'run_id'],
  ['flex_plan_nodes', 'run_id'],
  ['flex_plan_snapshots', 'run_id'],
  ['flex_run_outputs', 'run_id'],
  ['flex_value_uses', 'run_id'],
  ['hitl_requests', 'run_id'],
  ['hitl_events', 'run_id'],
  ['spans', 'run_id'],
  ['traces', 'run_id'],
  ['agent_messages', 'flex_run_id'],
  ['flex_documents', 'run_id'],
] as const satisfies readonly (readonly [keyof Tables, string])[]

/** Statements for pruning: find runs that are over, delete them with their rows, find unused values. */
export function createPruneStatements(
  db: Kysely<Tables>,
  dialect: SqlDialect,
  templates: Templates = createTemplates('p', dialect.lists),
) {
  const deletes = parts.map(([table, column]) =>
    templates.list<object, string>((_, runIds) =>
      db.deleteFrom(table).where(sql.ref(column), 'in', runIds as never),
    ),
  )

  return {
    /** Runs that were created before a time: one that was last changed before it was created before it. */
    runsAfter(
      { before, tenant, exceptTenants = [] }: Prune,
      after: Walker | undefined,
      limit: number,
    ): Statement {
      let query = db
        .selectFrom('flex_runs')
        .select(['run_id', 'created_at', 'seq', 'status', 'updated_at'])
        .where('created_at', '<', before)
      if (tenant !== undefined) query = query.where('tenant', '=', tenant)
      if (exceptTenants.length > 0) query = query.where('tenant', 'not in', exceptTenants)
      if (after !== undefined) {
        query = query.where(({ eb, refTuple, tuple }) =>
          eb(refTuple('created_at', 'run_id'), '>', tuple(after.created_at, after.run_id)),
        )
      }
      return query.orderBy('created_at').orderBy('run_id').limit(limit).compile()
    },

    /** Deletes the head first: a concurrent append waits for its row, and then finds none. */
    deleteHeads: templates.list<object, string>((_, runIds) =>
      db.deleteFrom('flex_runs').where('run_id', 'in', runIds).returning(['run_id', 'seq']),
    ),

    deleteParts: (runIds: readonly string[]): Statement[] => deletes.map((make) => make({}, runIds)),

    /** Unused values, ordered by hash. A value that is locked by an append is skipped. */
    unusedValues: templates.query<{ after: string; limit: number }>((param) => {
      const query = db
        .selectFrom('flex_values')
        .select('flex_values.hash')
        .where('flex_values.hash', '>', param('after'))
        .where(({ not, exists }) => not(exists(getUses(db).select('flex_value_uses.hash'))))
        .orderBy('flex_values.hash')
        .limit(param('limit'))
      return dialect.locks.forUpdateSkipLocked(query, 'flex_values')
    }),

    usedAmong: templates.list<object, string>((_, hashes) =>
      db.selectFrom('flex_value_uses').select('hash').where('hash', 'in', hashes),
    ),

    deleteValues: templates.list<object, string>((_, hashes) =>
      db.deleteFrom('flex_values').where('hash', 'in', hashes),
    ),

    /** Counts values that are unused, or only used by runs that would be deleted. */
    countUnused({ before, tenant, exceptTenants = [], status = terminalStatuses }: Prune): Statement {
      const stays = (eb: ExpressionBuilder<Tables, 'flex_runs'>) =>
        eb.or([
          eb('flex_runs.run_id', 'is', null),
          eb('flex_runs.status', 'not in', status),
          eb('flex_runs.updated_at', '>=', before),
          ...(tenant === undefined ? [] : [eb('flex_runs.tenant', '!=', tenant)]),
          ...(exceptTenants.length === 0 ? [] : [eb('flex_runs.tenant', 'in', exceptTenants)]),
        ])
      return db
        .selectFrom('flex_values')
        .select((eb) => eb.fn.countAll().as('count'))
        .where(({ not, exists }) =>
          not(
            exists(
              getUses(db)
                .leftJoin('flex_runs', 'flex_runs.run_id', 'flex_value_uses.run_id')
                .select('flex_value_uses.hash')
                .where((eb) => stays(eb as never)),
            ),
          ),
        )
        .compile()
    },
  }
}

/** The uses of the value that the query around is about. */
function getUses(db: Kysely<Tables>) {
  return db
    .selectFrom('flex_value_uses')
    .where('flex_value_uses.hash', '=', sql.ref<string>('flex_values.hash'))
}
