/** Figures of a database, for health checks, quotas and operators: a few sums over runs, spans, events and values, one pass each. */
import { type Kysely, type SelectQueryBuilder, sql } from 'kysely'
import type { Sample, SampleGroup, SampleQuery } from '../../../domain/ports/sample.ts'
import type { QueueStatus, Store, TenantUsage } from '../../../domain/ports/store.ts'
import { type RunStatus, terminalStatuses } from '../../../domain/status.ts'
import { slotWidth } from '../projections/span-health.ts'
import type { SqlDialect } from './dialects/sql-dialect.ts'
import type { SqlDriver } from './sql-driver.ts'
import { ask, type Statement, type Steps } from './steps.ts'
import type { Tables } from './tables.ts'

export function createSample({ builder, dialect, run }: SqlDriver): (query: SampleQuery) => Promise<Sample> {
  const statements = sampleStatements(builder, dialect)
  return (query) =>
    run(function* () {
      const groups = yield* ask<GroupRow>(statements.groups(query))
      const [row] = yield* ask<{ runs: unknown }>(statements.runs(query))
      const total = Number(row?.runs ?? 0)
      /** Where only one is asked for, its runs are all there are. */
      function* runsBy(column: 'node_id' | 'model_id', only: string | undefined): Steps<Counted> {
        if (only !== undefined) return total === 0 ? {} : { [only]: total }
        return counts(yield* ask<{ key: string; runs: unknown }>(statements.runsBy(column, query)))
      }
      return {
        groups: groups.map((group) => toGroup(group, query)),
        runs: {
          total,
          byNode: yield* runsBy('node_id', query.nodeId),
          byModel: yield* runsBy('model_id', query.model),
        },
      }
    })
}

type Counted = { readonly [key: string]: number }

interface GroupRow {
  readonly node_id: string
  readonly model_id: string | null
  readonly signals: string
  /** Counts come as text from PostgreSQL. */
  readonly slot: unknown
  readonly attempts: unknown
  readonly calls: unknown
  readonly input: unknown
  readonly output: unknown
  readonly cost: unknown
  readonly unknown_cost: unknown
}

export function sampleStatements(db: Kysely<Tables>, { sampling }: SqlDialect) {
  /** The partial index `spans_health` has exactly the spans with signals. */
  const sampled = ({ from, to, nodeId, model, tenant, pipeline }: SampleQuery) => {
    let query = db.selectFrom('spans').where('spans.signals', 'is not', null)
    if (from !== undefined) query = query.where('spans.ended_at', '>=', from)
    if (to !== undefined) query = query.where('spans.ended_at', '<=', to)
    if (nodeId !== undefined) query = query.where('spans.node_id', '=', nodeId)
    if (model !== undefined) query = query.where('spans.model_id', '=', model)
    if (tenant === undefined && pipeline === undefined) return query
    let runs = db.selectFrom('flex_runs').select('flex_runs.run_id')
    if (tenant !== undefined) runs = runs.where('flex_runs.tenant', '=', tenant)
    if (pipeline !== undefined) runs = runs.where('flex_runs.pipeline', '=', pipeline)
    return query.where(sampling.runId, 'in', runs)
  }
  const getSlot = (query: SampleQuery) => {
    const width = slotWidth(query)
    if (width === undefined) return sql<number>`0`
    // Literals instead of parameters: the expression must be identical in select and group by.
    const since = sql`(spans.ended_at - ${sql.lit(query.from)}) / ${sql.lit(width)}`
    return sampling.toWholeNumber(since)
  }
  const sum = (column: string) => sql<number>`coalesce(sum(${sql.ref(`spans.${column}`)}), 0)`
  const distinctRuns = sql<number>`count(distinct spans.run_id)`

  return {
    groups(query: SampleQuery): Statement {
      return sampled(query)
        .select(['spans.node_id', 'spans.model_id', 'spans.signals'])
        .select([
          getSlot(query).as('slot'),
          sql<number>`count(*)`.as('attempts'),
          sum('repair_calls').as('calls'),
          sum('repair_input_tokens').as('input'),
          sum('repair_output_tokens').as('output'),
          sum('repair_cost_usd').as('cost'),
          sum('repair_cost_unknown').as('unknown_cost'),
        ])
        .groupBy(['spans.node_id', 'spans.model_id', 'spans.signals', sql`4`])
        .compile()
    },
    runs: (query: SampleQuery): Statement => sampled(query).select(distinctRuns.as('runs')).compile(),
    runsBy(column: 'node_id' | 'model_id', query: SampleQuery): Statement {
      return (sampled(query) as SelectQueryBuilder<Tables, 'spans', object>)
        .select([`spans.${column} as key`, distinctRuns.as('runs')])
        .where(`spans.${column}`, 'is not', null)
        .groupBy(`spans.${column}`)
        .compile()
    },
  }
}

function toGroup(row: GroupRow, { slots = 1 }: SampleQuery): SampleGroup {
  return {
    nodeId: row.node_id,
    ...(row.model_id !== null && { model: row.model_id }),
    // The last part of the time is closed: its end belongs to it.
    slot: Math.min(Number(row.slot), slots - 1),
    signals: JSON.parse(row.signals),
    attempts: Number(row.attempts),
    repair: {
      calls: Number(row.calls),
      inputTokens: Number(row.input),
      outputTokens: Number(row.output),
      costUsd: Number(row.cost),
      unknownCost: Number(row.unknown_cost),
    },
  }
}

function counts(rows: readonly { readonly key: string; readonly runs: unknown }[]): {
  [key: string]: number
} {
  return Object.fromEntries(rows.map(({ key, runs }) => [key, Number(runs)]))
}

/** Sums what a tenant has stored and used, for quotas. */
export function createUsage({ builder: db, dialect, run }: SqlDriver): NonNullable<Store['usage']> {
  const getRuns = (tenant: string) =>
    db.selectFrom('flex_runs').select('flex_runs.run_id').where('flex_runs.tenant', '=', tenant)
  const sumUsage = (name: string) =>
    sql<number>`coalesce(sum(coalesce(${dialect.sampling.readUsage(name)}, 0)), 0)`
  const statements = {
    events: (tenant: string) =>
      db
        .selectFrom('flex_events')
        .select(sql<number>`coalesce(sum(length(flex_events.payload)), 0)`.as('size'))
        .where('flex_events.run_id', 'in', getRuns(tenant))
        .compile(),
    values: (tenant: string) =>
      db
        .selectFrom('flex_values')
        .select(sql<number>`coalesce(sum(length(flex_values.body)), 0)`.as('size'))
        .where('flex_values.hash', 'in', (inner) =>
          inner
            .selectFrom('flex_value_uses')
            .select('flex_value_uses.hash')
            .where('flex_value_uses.run_id', 'in', getRuns(tenant)),
        )
        .compile(),
    used: (tenant: string, from: number) =>
      db
        .selectFrom('flex_events')
        .select([
          sumUsage('inputTokens').as('input'),
          sumUsage('outputTokens').as('output'),
          sumUsage('costUsd').as('cost'),
        ])
        .where('flex_events.type', '=', 'attempt_end')
        .where('flex_events.at', '>=', from)
        .where('flex_events.run_id', 'in', getRuns(tenant))
        .compile(),
  }
  return ({ tenant, from }) =>
    run(function* () {
      const [events] = yield* ask<{ size: unknown }>(statements.events(tenant))
      const [values] = yield* ask<{ size: unknown }>(statements.values(tenant))
      const [used] = yield* ask<{ input: unknown; output: unknown; cost: unknown }>(
        statements.used(tenant, from),
      )
      // Sums come as text from PostgreSQL.
      const usage: TenantUsage = {
        stored: Number(events?.size ?? 0) + Number(values?.size ?? 0),
        tokens: Number(used?.input ?? 0) + Number(used?.output ?? 0),
        costUsd: Number(used?.cost ?? 0),
      }
      return usage
    })
}

const mostOldest = 10

/** Counts what is due and who has leases. Runs that are over are not read through the index of due runs. */
export function createQueueInspection({ builder: db, dialect, run, now }: SqlDriver) {
  const time = () => dialect.now(() => now())
  const isFree = () => sql<boolean>`due_at <= ${time()} and lease_owner is null`
  const statements = {
    now: () => db.selectNoFrom(time().as('now')).compile(),
    runs: () =>
      db
        .selectFrom('flex_runs')
        .select(['status', sql<unknown>`count(*)`.as('runs')])
        .where('status', 'not in', terminalStatuses)
        .groupBy('status')
        .compile(),
    due: () => db.selectFrom('flex_runs').select(sql<unknown>`count(*)`.as('runs')).where(isFree()).compile(),
    oldest: () =>
      db
        .selectFrom('flex_runs')
        .select(['run_id', 'tenant', 'due_at'])
        .where(isFree())
        .orderBy('due_at')
        .orderBy('run_id')
        .limit(mostOldest)
        .compile(),
    leases: () =>
      db
        .selectFrom('flex_runs')
        .select([
          'lease_owner as owner',
          sql<unknown>`count(*)`.as('runs'),
          sql<unknown>`sum(case when lease_until <= ${time()} then 1 else 0 end)`.as('expired'),
        ])
        .where('lease_owner', 'is not', null)
        .where('due_at', 'is not', null)
        .groupBy('lease_owner')
        .compile(),
  }
  return (): Promise<QueueStatus> =>
    run(function* () {
      const [now] = yield* ask<{ now: unknown }>(statements.now())
      const runs = yield* ask<{ status: RunStatus; runs: unknown }>(statements.runs())
      const [due] = yield* ask<{ runs: unknown }>(statements.due())
      const oldest = yield* ask<{ run_id: string; tenant: string; due_at: unknown }>(statements.oldest())
      const leases = yield* ask<{ owner: string; runs: unknown; expired: unknown }>(statements.leases())
      // Counts come as text from PostgreSQL.
      return {
        now: Number(now?.now ?? 0),
        runs: Object.fromEntries(runs.map((row) => [row.status, Number(row.runs)])),
        due: Number(due?.runs ?? 0),
        oldestDue: oldest.map((row) => ({
          runId: row.run_id,
          tenant: row.tenant,
          dueAt: Number(row.due_at),
        })),
        leases: leases
          .map((row) => ({ owner: row.owner, runs: Number(row.runs), expired: Number(row.expired) }))
          .sort((one, other) => other.runs - one.runs || (one.owner < other.owner ? -1 : 1)),
      }
    })
}
