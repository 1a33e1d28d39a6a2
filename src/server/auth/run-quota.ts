/**
 * Limits the active runs of each tenant. Runs are counted in the store once a second, and again before a request is
 * refused; between counts, runs started by this process are added.
 */

import type { Clock } from '../../base/time/clock.ts'
import type { Store } from '../../domain/ports/store.ts'
import { activeStatuses } from '../../domain/status.ts'
import { type Refusal, refusal } from '../problem.ts'

export interface RunQuota {
  /** Reserves one more run, or returns why the quota is exhausted. */
  take(tenant: string): Promise<Refusal | undefined>
}

interface Count {
  readonly at: number
  runs: number
}

/** How long a count is valid while the quota has free capacity, and when it seems exhausted. */
const freshMs = { some: 1_000, none: 50 } as const
/** Maximum tenants whose count is cached; the oldest entry is evicted. */
const mostTenants = 1_000

export function createRunQuota(
  store: Pick<Store, 'runs'>,
  most: number,
  { now }: Pick<Clock, 'now'>,
): RunQuota {
  const counts = new Map<string, Count>()
  /** Counts in progress: concurrent requests of a tenant share one query. */
  const counting = new Map<string, Promise<Count>>()
  const getCount = async (tenant: string): Promise<Count> => {
    const known = counts.get(tenant)
    if (known && now() - known.at < (known.runs < most ? freshMs.some : freshMs.none)) return known
    const shared = counting.get(tenant) ?? recount(tenant).finally(() => counting.delete(tenant))
    counting.set(tenant, shared)
    return shared
  }
  const recount = async (tenant: string): Promise<Count> => {
    const found = await store.runs({ tenant, status: activeStatuses, limit: most })
    const count = { at: now(), runs: found.length }
    counts.delete(tenant)
    counts.set(tenant, count)
    for (const oldest of counts.keys()) {
      if (counts.size <= mostTenants) break
      counts.delete(oldest)
    }
    return count
  }
  return {
    async take(tenant) {
      const count = await getCount(tenant)
      if (count.runs < most) {
        count.runs++
        return undefined
      }
      return refusal('quota/runs', `The tenant has ${most} active runs, the maximum`, {
        hint: 'Wait until some runs end, or cancel them',
        headers: { 'retry-after': '1' },
      })
    },
  }
}
