/** The operations audit in a database. Its rows are written in the transaction of the change that they record. */
import { linkOperation, type NewOperation, type OperationRow } from '../../../domain/ports/operations.ts'
import type { Records } from '../../../domain/ports/records.ts'
import { plainText } from '../shared/codec.ts'
import type { Timed } from './dialects/sql-dialect.ts'
import type { SqlDriver } from './sql-driver.ts'
import type { RecordStatements } from './statements/record-statements.ts'
import { ask, type Statement, type Steps } from './steps.ts'
import type { OperationTable } from './tables.ts'

type OperationStatements = RecordStatements['operations']

/** The statements around a transaction. */
export interface TransactionEnds {
  readonly begin: Statement
  readonly commit: Statement
}

/**
 * Appends a row to the chain. Call it last in a transaction: another process that appends waits for the commit, then finds
 * its number taken and continues from the row of this one.
 */
export function* recordOperation(
  statements: OperationStatements,
  operation: NewOperation,
  timed: Timed,
): Steps<OperationRow> {
  for (;;) {
    const [times = [], [newest] = []] = yield [statements.time(timed), statements.newest({})]
    const last = newest as unknown as Pick<OperationTable, 'seq' | 'hash'> | undefined
    const row = linkOperation(last, { ...operation, at: Number(times[0]?.['now']) })
    const written = yield* ask(statements.insert(toTable(row)))
    if (written.length > 0) return row
  }
}

export function createSqlOperations(
  driver: SqlDriver,
  statements: OperationStatements,
  { begin, commit }: TransactionEnds,
): Records['operations'] {
  return {
    append: (operation) =>
      driver.transaction(function* () {
        yield [begin]
        const row = yield* recordOperation(statements, operation, { now: driver.now() })
        yield [commit]
        return row
      }),
    async list(query) {
      return (await driver.run(() => ask<OperationTable>(statements.list(query)))).map(toOperation)
    },
  }
}

function toTable({ by, details, ...row }: OperationRow): OperationTable {
  return { ...row, actor: by, details: plainText(details) }
}

function toOperation({
  seq,
  at,
  tenant,
  actor,
  action,
  subject,
  details,
  prev,
  hash,
}: OperationTable): OperationRow {
  return {
    seq,
    at,
    tenant,
    by: actor,
    // Only this module writes the column.
    action: action as OperationRow['action'],
    subject,
    details: JSON.parse(details),
    prev,
    hash,
  }
}
