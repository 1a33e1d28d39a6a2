/** Takes over runs whose owner does not answer, on a database that several processes share. */
import type { Handover } from '../../../../domain/ports/queue/handover.ts'
import type { SqlDriver } from '../sql-driver.ts'
import { createHandoverStatements } from '../statements/handover-statements.ts'
import type { LeaseStatements } from '../statements/lease-statements.ts'
import { ask } from '../steps.ts'
import type { RunTable } from '../tables.ts'

export function createHandover(
  driver: SqlDriver,
  { claimed }: Pick<LeaseStatements, 'claimed'>,
  nextName: () => string,
): Handover {
  const statements = createHandoverStatements(driver.builder, driver.dialect)
  return {
    async findLease(runId) {
      type Held = { lease_owner: string; lease_epoch: number; lease_until: number }
      const [row] = await driver.run(() => ask<Held>(statements.held({ runId, now: driver.now() })))
      return row && { owner: row.lease_owner, epoch: row.lease_epoch, until: row.lease_until }
    },

    // A notification about no new events that frees nothing: the owner answers it by a renewal.
    challenge: (runId) =>
      driver.notifyOthers(new Map([[runId, { seq: 0, isFree: false, isSettled: false }]])),

    async takeOver({ runId, owner, leaseMs, from }) {
      const claimId = nextName()
      const [row] = await driver.run(function* (again) {
        type Taken = Pick<RunTable, 'run_id' | 'tenant' | 'lease_epoch'>
        if (again) {
          const before = yield* ask<Taken>(claimed({ owner, claimId }))
          if (before.length > 0) return before
        }
        const fenced = { fromOwner: from.owner, fromEpoch: from.epoch, fromUntil: from.until }
        const values = { runId, owner, leaseMs, claimId, now: driver.now(), ...fenced }
        return yield* ask<Taken>(statements.takeOver(values))
      })
      driver.recent?.forget([runId])
      return row && { runId, tenant: row.tenant, lease: { owner, epoch: row.lease_epoch } }
    },

    async listLate({ lateMs, limit }) {
      type Late = { run_id: string; due_at: number }
      const rows = await driver.run(() => ask<Late>(statements.late({ lateMs, limit, now: driver.now() })))
      return rows.map((row) => ({ runId: row.run_id, dueAt: row.due_at }))
    },
  }
}
