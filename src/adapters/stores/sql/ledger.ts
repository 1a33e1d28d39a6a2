/** The correction ledger in a database: its own migration, made only where it is switched on (C9), and its two statements. */
import type { Kysely, Migration } from 'kysely'
import type { CorrectionLedger, CorrectionRow } from '../../../domain/ports/ledger.ts'
import type { SqlDialect } from './dialects/sql-dialect.ts'
import type { SqlDriver } from './sql-driver.ts'
import { ask } from './steps.ts'
import type { CorrectionTable } from './tables.ts'

export const ledgerMigrationTable = 'proviso_ledger_migrations'

export function ledgerMigrations({ columns: { key } }: SqlDialect): Record<string, Migration> {
  return {
    '0001_correction_ledger': {
      async up(db: Kysely<unknown>) {
        await db.schema
          .createTable('correction_ledger')
          .addColumn('id', key, (column) => column.notNull())
          .addColumn('timestamp', 'double precision', (column) => column.notNull())
          .addColumn('step_name', key, (column) => column.notNull())
          .addColumn('agent_id', 'text')
          .addColumn('provider_model', 'text')
          .addColumn('schema_hash', 'text')
          .addColumn('coercion_policy_version', 'text', (column) => column.notNull())
          .addColumn('stage', 'text', (column) => column.notNull())
          .addColumn('repair_depth', 'double precision', (column) => column.notNull())
          .addColumn('transforms_applied', 'text', (column) => column.notNull())
          .addColumn('latency_ms_saved', 'double precision')
          .addPrimaryKeyConstraint('correction_ledger_key', ['id'])
          .execute()
        await db.schema
          .createIndex('correction_ledger_time')
          .on('correction_ledger')
          .columns(['timestamp', 'id'])
          .execute()
      },
    },
  }
}

export function createSqlLedger({ builder, run }: SqlDriver): CorrectionLedger {
  return {
    list({ since, stepName, limit = 1_000 }) {
      let query = builder.selectFrom('correction_ledger').selectAll()
      if (since !== undefined) query = query.where('timestamp', '>=', since)
      if (stepName !== undefined) query = query.where('step_name', '=', stepName)
      const statement = query.orderBy('timestamp').orderBy('id').limit(limit).compile()
      return run(function* () {
        return (yield* ask<CorrectionTable>(statement)).map(toCorrection)
      })
    },
  }
}

export function correctionRow(row: CorrectionRow): CorrectionTable {
  return {
    id: row.id,
    timestamp: row.timestamp,
    step_name: row.stepName,
    agent_id: row.agentId ?? null,
    provider_model: row.providerModel ?? null,
    schema_hash: row.schemaHash ?? null,
    coercion_policy_version: row.coercionPolicyVersion,
    stage: row.stage,
    repair_depth: row.repairDepth,
    transforms_applied: JSON.stringify(row.transformsApplied),
    latency_ms_saved: row.latencyMsSaved ?? null,
  }
}

function toCorrection(row: CorrectionTable): CorrectionRow {
  return {
    id: row.id,
    timestamp: row.timestamp,
    stepName: row.step_name,
    ...(row.agent_id !== null && { agentId: row.agent_id }),
    ...(row.provider_model !== null && { providerModel: row.provider_model }),
    ...(row.schema_hash !== null && { schemaHash: row.schema_hash }),
    coercionPolicyVersion: row.coercion_policy_version,
    stage: row.stage,
    repairDepth: row.repair_depth,
    transformsApplied: JSON.parse(row.transforms_applied),
    ...(row.latency_ms_saved !== null && { latencyMsSaved: row.latency_ms_saved }),
  }
}
