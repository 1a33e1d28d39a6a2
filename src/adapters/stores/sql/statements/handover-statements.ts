/** Statements that take over runs whose owner does not answer: each is one statement, and so its own transaction. */
import { type Kysely, sql } from 'kysely'
import type { SqlDialect, Timed } from '../dialects/sql-dialect.ts'
import type { Tables } from '../tables.ts'
import { type ClaimValues, leaseColumns } from './lease-statements.ts'
import { createTemplates } from './templates.ts'

interface TakeOverValues extends Omit<ClaimValues, 'limit'> {
  readonly runId: string
  readonly fromOwner: string
  readonly fromEpoch: number
  readonly fromUntil: number
}

export function createHandoverStatements(db: Kysely<Tables>, dialect: SqlDialect) {
  const templates = createTemplates('h', dialect.lists)
  return {
    /** The lease of a run, unless it has expired. */
    held: templates.query<Timed & { runId: string }>((param) =>
      db
        .selectFrom('flex_runs')
        .select(['lease_owner', 'lease_epoch', 'lease_until'])
        .where('run_id', '=', param('runId'))
        .where('lease_until', '>', dialect.now(param)),
    ),

    /** Compare-and-set on owner, epoch and end of the lease: a renewal in between keeps it. */
    takeOver: templates.query<TakeOverValues>((param) =>
      db
        .updateTable('flex_runs')
        .set(leaseColumns(dialect, param))
        .where('run_id', '=', param('runId'))
        .where('lease_owner', '=', param('fromOwner'))
        .where('lease_epoch', '=', param('fromEpoch'))
        .where('lease_until', '=', param('fromUntil'))
        .where('due_at', 'is not', null)
        .returning(['run_id', 'tenant', 'lease_epoch']),
    ),

    late: templates.query<Timed & { lateMs: number; limit: number }>((param) =>
      db
        .selectFrom('flex_runs')
        .select(['run_id', 'due_at'])
        .where('due_at', '<=', sql<number>`${dialect.now(param)} - ${param('lateMs')}`)
        .orderBy('due_at')
        .limit(param('limit')),
    ),
  }
}
