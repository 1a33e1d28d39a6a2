/** Statements that claim runs and renew leases: each is one statement, and so its own transaction. */
import { type Kysely, type SelectQueryBuilder, sql } from 'kysely'
import type { SqlDialect, Timed } from '../dialects/sql-dialect.ts'
import type { Statement } from '../steps.ts'
import type { Tables } from '../tables.ts'
import { createTemplates, type Param, type Templates } from './templates.ts'

export interface ClaimValues extends Timed {
  readonly owner: string
  readonly leaseMs: number
  readonly limit: number
  readonly claimId: string
}

interface Claiming {
  readonly runId?: string | undefined
  readonly except?: readonly string[] | undefined
  readonly exceptTenants?: readonly string[] | undefined
}

/** What a claim leaves out. */
interface Left {
  readonly runs: readonly string[]
  readonly tenants: readonly string[]
}

/** When a lease that is granted or renewed now expires. */
function leaseEnd(dialect: SqlDialect, param: Param<Timed & { leaseMs: number }>) {
  return sql<number>`${dialect.now(param)} + ${param('leaseMs')}`
}

/** The columns of a granted lease. */
export function leaseColumns(dialect: SqlDialect, param: Param<Omit<ClaimValues, 'limit'>>) {
  const until = leaseEnd(dialect, param)
  return {
    lease_owner: param('owner'),
    lease_epoch: sql<number>`lease_epoch + 1`,
    lease_until: until,
    due_at: until,
    claim_id: param('claimId'),
  }
}

export type LeaseStatements = ReturnType<typeof createLeaseStatements>

export function createLeaseStatements(
  db: Kysely<Tables>,
  dialect: SqlDialect,
  templates: Templates = createTemplates('l', dialect.lists),
) {
  const due = (param: Param<ClaimValues>) =>
    db
      .selectFrom('flex_runs')
      .select('run_id')
      .where('due_at', '<=', dialect.now(param))
      .orderBy('due_at')
      .orderBy('run_id')
      .limit(param('limit'))

  /** Skips runs whose row is being written, instead of waiting for it. */
  const take = (
    param: Param<ClaimValues>,
    ready: SelectQueryBuilder<Tables, 'flex_runs', { run_id: string }>,
  ) =>
    db
      .updateTable('flex_runs')
      .set(leaseColumns(dialect, param))
      .where('run_id', 'in', dialect.locks.forUpdateSkipLocked(ready, 'flex_runs'))
      .returning(['run_id', 'tenant', 'lease_epoch'])

  const claimAny = templates.query<ClaimValues>((param) => take(param, due(param)))
  const claimOne = templates.query<ClaimValues & { runId: string }>((param) =>
    take(param, due(param).where('run_id', '=', param('runId'))),
  )

  /** Built each time: lists of runs and tenants that are left out are rare, and each is another. */
  const claimOthers = (values: ClaimValues, left: Left): Statement => {
    const param: Param<ClaimValues> = (name) => values[name]
    const ready = due(param)
      .$if(left.runs.length > 0, (query) => query.where('run_id', 'not in', left.runs))
      .$if(left.tenants.length > 0, (query) => query.where('tenant', 'not in', left.tenants))
    return take(param, ready).compile()
  }
  const wakes = () =>
    db.selectFrom('flex_runs').select('due_at').where('due_at', 'is not', null).orderBy('due_at').limit(1)
  const firstWake = templates.one<object>(wakes)

  return {
    claim({ runId, except = [], exceptTenants = [], ...values }: ClaimValues & Claiming): Statement {
      if (runId !== undefined) return claimOne({ ...values, runId })
      const isAny = except.length === 0 && exceptTenants.length === 0
      return isAny ? claimAny(values) : claimOthers(values, { runs: except, tenants: exceptTenants })
    },

    /** What a claim got whose answer was lost. */
    claimed: templates.query<{ owner: string; claimId: string }>((param) =>
      db
        .selectFrom('flex_runs')
        .select(['run_id', 'tenant', 'lease_epoch'])
        .where('lease_owner', '=', param('owner'))
        .where('claim_id', '=', param('claimId')),
    ),

    /** Locks rows in the order of their ids, as appends do: locked in another order, each would wait for the other. */
    renew: templates.list<Timed & { owner: string; leaseMs: number }, string>((param, runIds) =>
      db
        .updateTable('flex_runs')
        .set({ lease_until: leaseEnd(dialect, param), due_at: leaseEnd(dialect, param) })
        .where('run_id', 'in', (eb) =>
          dialect.locks.forUpdate(
            eb.selectFrom('flex_runs').select('run_id').where('run_id', 'in', runIds).orderBy('run_id'),
          ),
        )
        .where('lease_owner', '=', param('owner'))
        .where('due_at', 'is not', null)
        .returning(['run_id', 'seq']),
    ),

    nextWake: (except: readonly string[] = []): Statement =>
      except.length === 0 ? firstWake({}) : wakes().where('run_id', 'not in', except).compile(),
  }
}
