/** Statements that claim runs and renew leases: each is one statement, and so its own transaction. */
import { type Expression, type Kysely, type SelectQueryBuilder, sql } from 'kysely'
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

interface Claiming extends Left {
  readonly runId?: string | undefined
}

/** What a claim leaves out. */
interface Left {
  readonly except?: readonly string[] | undefined
  readonly exceptTenants?: readonly string[] | undefined
  /** Only runs without a placement, or with one of these. Default: all. */
  readonly placements?: readonly string[] | undefined
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

type Ready = SelectQueryBuilder<Tables, 'flex_runs', { run_id: string }>
type Narrow = (query: Ready) => Ready

/** Highest first. `priority <> 0` is the condition of the index of the runs that are not of normal priority. */
const levels = [
  sql<boolean>`priority <> 0 and priority = 1`,
  sql<boolean>`priority = 0`,
  sql<boolean>`priority <> 0 and priority = -1`,
] as const

export function createLeaseStatements(
  db: Kysely<Tables>,
  dialect: SqlDialect,
  templates: Templates = createTemplates('l', dialect.lists),
) {
  const { due, lockSome, take, takeByLevel } = createClaims(db, dialect)
  const claimAny = templates.query<ClaimValues>((param) => takeByLevel(param, (query) => query))
  const claimUnplaced = templates.query<ClaimValues>((param) =>
    takeByLevel(param, (query) => query.where('placement', 'is', null)),
  )

  /** Built each time: lists of what is left out are rare, and each is another. */
  const claimOthers = (values: ClaimValues, { runId, ...left }: Claiming): Statement => {
    const param: Param<ClaimValues> = (name) => values[name]
    if (runId === undefined) return takeByLevel(param, leaveOut(left)).compile()
    const one = lockSome(
      param,
      due(param, (query) => leaveOut(left)(query).where('run_id', '=', runId)),
    )
    return take(param, one).compile()
  }
  const wakes = () =>
    db.selectFrom('flex_runs').select('due_at').where('due_at', 'is not', null).orderBy('due_at').limit(1)
  const firstWake = templates.one<object>(wakes)
  const firstUnplacedWake = templates.one<object>(() => wakes().where('placement', 'is', null))

  return {
    claim({
      runId,
      except = [],
      exceptTenants = [],
      placements,
      ...values
    }: ClaimValues & Claiming): Statement {
      if (runId !== undefined || except.length > 0 || exceptTenants.length > 0 || placements?.length)
        return claimOthers(values, { runId, except, exceptTenants, placements })
      return placements === undefined ? claimAny(values) : claimUnplaced(values)
    },

    /** What a claim got whose answer was lost. */
    claimed: templates.query<{ owner: string; claimId: string }>((param) =>
      db
        .selectFrom('flex_runs')
        .select(['run_id', 'tenant', 'lease_epoch', 'priority'])
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

    nextWake({ except = [], placements }: Pick<Left, 'except' | 'placements'> = {}): Statement {
      if (except.length > 0 || placements?.length)
        // The same conditions, on another selection.
        return (
          leaveOut({ except, placements })(wakes() as never) as unknown as ReturnType<typeof wakes>
        ).compile()
      return placements === undefined ? firstWake({}) : firstUnplacedWake({})
    },
  }
}

/** Parts of the statements that claim runs. */
function createClaims(db: Kysely<Tables>, dialect: SqlDialect) {
  const due = (param: Param<ClaimValues>, narrow: Narrow): Ready =>
    narrow(db.selectFrom('flex_runs').select('run_id').where('due_at', '<=', dialect.now(param)))

  /** Skips runs whose row is being written, instead of waiting for it. */
  const lockSome = (param: Param<ClaimValues>, ready: Ready) =>
    dialect.locks.forUpdateSkipLocked(
      ready.orderBy('due_at').orderBy('run_id').limit(param('limit')),
      'flex_runs',
    )

  const take = (param: Param<ClaimValues>, ready: Expression<{ run_id: string }>) =>
    db
      .updateTable('flex_runs')
      .set(leaseColumns(dialect, param))
      .where('run_id', 'in', ready as never)
      .returning(['run_id', 'tenant', 'lease_epoch', 'priority'])

  /** The first of each level, each found by an index, and of these the first. */
  const takeByLevel = (param: Param<ClaimValues>, narrow: Narrow) => {
    const some = levels.map((level, nth) => {
      const ready = lockSome(
        param,
        due(param, (query) => narrow(query).where(level)),
      )
      return sql`select run_id, due_at, ${sql.lit(nth)} as nth from (${ready.select('due_at')}) as ${sql.ref(`level_${nth}`)}`
    })
    return take(
      param,
      sql`(select run_id from (${sql.join(some, sql` union all `)}) as ready
        order by nth, due_at, run_id limit ${param('limit')})`,
    )
  }

  return { due, lockSome, take, takeByLevel }
}

/** Leaves out runs, tenants and placements. */
function leaveOut({ except = [], exceptTenants = [], placements }: Left): Narrow {
  return (query) =>
    query
      .$if(except.length > 0, (some) => some.where('run_id', 'not in', except))
      .$if(exceptTenants.length > 0, (some) => some.where('tenant', 'not in', exceptTenants))
      .$if(placements !== undefined, (some) =>
        some.where(({ eb, or }) =>
          or([
            eb('placement', 'is', null),
            ...(placements?.length ? [eb('placement', 'in', placements)] : []),
          ]),
        ),
      )
}
