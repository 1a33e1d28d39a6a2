/**
 * How many runs of one tenant may be under way. The store is counted once a second, and anew before anybody is refused;
 * between, what was started here is added.
 */
import type { Clock } from '../base/clock.ts'
import type { Store } from '../domain/ports/store.ts'
import { type Refusal, refusal } from './problem.ts'

export interface RunQuota {
  /** Takes a place for one more run, or says why there is none. */
  take(tenant: string): Promise<Refusal | undefined>
}

interface Count {
  readonly at: number
  runs: number
}

/** How long a count is good as long as there are places, and when there seem to be none. */
const freshMs = { some: 1_000, none: 50 } as const
/** Tenants whose count is remembered; the oldest is forgotten and counted again. */
const mostTenants = 1_000

export function createRunQuota(
  store: Pick<Store, 'runs'>,
  most: number,
  { now }: Pick<Clock, 'now'>,
): RunQuota {
  const counts = new Map<string, Count>()
  /** Whoever comes while the store is being counted waits for that count. */
  const counting = new Map<string, Promise<Count>>()
  const countOf = async (tenant: string): Promise<Count> => {
    const known = counts.get(tenant)
    if (known && now() - known.at < (known.runs < most ? freshMs.some : freshMs.none)) return known
    const shared = counting.get(tenant) ?? recount(tenant).finally(() => counting.delete(tenant))
    counting.set(tenant, shared)
    return shared
  }
  const recount = async (tenant: string): Promise<Count> => {
    const found = await store.runs({ tenant, status: ['pending', 'running'], limit: most })
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
      const count = await countOf(tenant)
      if (count.runs < most) {
        count.runs++
        return undefined
      }
      return refusal('quota/runs', `The tenant has ${most} runs under way, which is the most it may have`, {
        hint: 'Wait until some have ended, or cancel them',
        headers: { 'retry-after': '1' },
      })
    },
  }
}
