/**
 * Deletes old runs that are over. Runs are deleted in transactions of a bounded number of events. Values follow: a value is
 * locked and its uses are checked again, so that an append that is about to use it has either recorded the use by then, or
 * waits and writes the value again (`write-statements.ts`).
 */
import type { Prune, Pruned } from '../../../domain/ports/store.ts'
import { isTerminal } from '../../../domain/status.ts'
import type { SqlDriver } from './sql-driver.ts'
import {
  createPruneStatements,
  type PruneStatements,
  type SeenRun,
  type Walker,
} from './statements/prune-statements.ts'
import { ask, type Statement, type Steps } from './steps.ts'

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
      await take(page.filter((run) => isOver(run, request.before)))
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
        const gone = await driver.transaction(() => deleteRuns(group, statements, { begin, commit }))
        runs += gone.length
        events += gone.reduce((sum, { seq }) => sum + seq, 0)
      }
    })
    let values = 0
    for (let after: string | undefined = ''; after !== undefined; ) {
      const from: string = after
      const swept: Swept = await driver.transaction(() => sweep(from, statements, { begin, commit }))
      values += swept.gone
      after = swept.last
    }
    return { runs, events, values }
  }
}

/** A run that is over is immutable. */
function isOver({ status, updated_at }: SeenRun, before: number): boolean {
  return isTerminal(status) && updated_at < before
}

function groupByEvents(over: readonly SeenRun[]): string[][] {
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

/** The statements around a transaction. */
export interface TransactionEnds {
  readonly begin: Statement
  readonly commit: Statement
}

function* deleteRuns(
  runIds: readonly string[],
  statements: PruneStatements,
  { begin, commit }: TransactionEnds,
): Steps<Pick<SeenRun, 'run_id' | 'seq'>[]> {
  const [, gone = []] = yield [begin, statements.deleteHeads({}, runIds)]
  yield [...statements.deleteParts(runIds), commit]
  return gone as unknown as Pick<SeenRun, 'run_id' | 'seq'>[]
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
