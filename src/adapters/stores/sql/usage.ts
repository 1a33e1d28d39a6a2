/** What a tenant has stored and used, for quotas: three sums over the events and values of its runs. */
import { sql } from 'kysely'
import type { Store, TenantUsage } from '../../../domain/ports/store.ts'
import type { SqlDriver } from './sql-driver.ts'
import { ask } from './steps.ts'

export function createUsage({ builder: db, dialect, run }: SqlDriver): NonNullable<Store['usage']> {
  const runsOf = (tenant: string) =>
    db.selectFrom('flex_runs').select('flex_runs.run_id').where('flex_runs.tenant', '=', tenant)
  const sumUsage = (name: string) =>
    sql<number>`coalesce(sum(coalesce(${dialect.sampling.readUsage(name)}, 0)), 0)`
  const statements = {
    events: (tenant: string) =>
      db
        .selectFrom('flex_events')
        .select(sql<number>`coalesce(sum(length(flex_events.payload)), 0)`.as('size'))
        .where('flex_events.run_id', 'in', runsOf(tenant))
        .compile(),
    values: (tenant: string) =>
      db
        .selectFrom('flex_values')
        .select(sql<number>`coalesce(sum(length(flex_values.body)), 0)`.as('size'))
        .where('flex_values.hash', 'in', (inner) =>
          inner
            .selectFrom('flex_value_uses')
            .select('flex_value_uses.hash')
            .where('flex_value_uses.run_id', 'in', runsOf(tenant)),
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
        .where('flex_events.run_id', 'in', runsOf(tenant))
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
