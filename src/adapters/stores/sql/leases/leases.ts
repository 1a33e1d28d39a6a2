/** Claims runs, renews leases and says when the next run is due. */
import type { Store } from '../../../../domain/ports/store.ts'
import { toChunks } from '../rows/chunk.ts'
import type { SqlDriver } from '../sql-driver.ts'
import type { LeaseStatements } from '../statements/lease-statements.ts'
import { ask, askAll } from '../steps.ts'
import type { RunTable } from '../tables.ts'

export function createLeases(
  driver: SqlDriver,
  statements: LeaseStatements,
  nextName: () => string,
): Pick<Store, 'claim' | 'renew' | 'nextWake'> {
  const { hot, recent, runByKey = driver.run } = driver
  return {
    async claim({ owner, leaseMs, limit, runId, except, exceptTenants, placements }) {
      const claimId = nextName()
      const taken = await runByKey(function* (again) {
        type Taken = Pick<RunTable, 'run_id' | 'tenant' | 'lease_epoch' | 'priority'>
        // At once, before the claim is on the disk: an append of the previous owner would be judged by the cached lease.
        const forget = (found: Taken[]) => {
          for (const cache of [hot, recent]) cache?.forget(found.map((row) => row.run_id))
          return found
        }
        if (again) {
          const before = yield* ask<Taken>(statements.claimed({ owner, claimId }))
          if (before.length > 0) return forget(before)
        }
        const values = { owner, leaseMs, limit, claimId, now: driver.now() }
        return forget(
          yield* ask<Taken>(statements.claim({ ...values, runId, except, exceptTenants, placements })),
        )
      })
      // An update returns its rows in any order; ids begin with the time at which they were made.
      taken.sort((one, other) => other.priority - one.priority || (one.run_id < other.run_id ? -1 : 1))
      return taken.map((row) => ({
        runId: row.run_id,
        tenant: row.tenant,
        lease: { owner, epoch: row.lease_epoch },
      }))
    },

    async renew({ owner, leaseMs, runIds }) {
      if (runIds.length === 0) return []
      const now = driver.now()
      const held = await driver.run(() =>
        askAll<Pick<RunTable, 'run_id' | 'seq'>>(
          toChunks(runIds).map((some) => statements.renew({ owner, leaseMs, now }, some)),
        ),
      )
      const runs = held.map((row) => ({ runId: row.run_id, seq: row.seq }))
      hot?.renewed(
        runs.map(({ runId }) => runId),
        now + leaseMs,
      )
      return runs
    },

    async nextWake(given) {
      const [row] = await runByKey(() => ask<{ due_at: number }>(statements.nextWake(given)))
      return row?.due_at
    },
  }
}
