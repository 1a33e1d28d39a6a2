/**
 * Quotas of a tenant for what is counted in the store: storage, and tokens and spend of the last 24 hours. The sums are
 * cached for a few seconds, so a tenant may exceed a quota by what it starts meanwhile; runs that are accepted are carried
 * out. `constraints.maxCostUsd` and `maxTokens` of an envelope limit a single run exactly.
 */
import { ProvisoError } from '../../base/errors/error.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { Store, TenantUsage } from '../../domain/ports/store.ts'
import { type Refusal, refusal } from '../problem.ts'

export interface UsageQuotas {
  /** Stored characters of events and values of one tenant. Default: no limit. */
  readonly storedChars?: number
  /** Tokens of models of one tenant in 24 hours. Default: no limit. */
  readonly dailyTokens?: number
  /** Spend of one tenant in 24 hours, in US dollars. Default: no limit. */
  readonly dailyUsd?: number
}

export interface UsageQuota {
  /** Returns why the tenant may not start another run. */
  check(tenant: string): Promise<Refusal | undefined>
}

const dayMs = 24 * 3_600_000
/** How long sums are cached. */
const freshMs = 5_000
/** Maximum tenants whose sums are cached; the oldest entry is evicted. */
const mostTenants = 1_000

export function createUsageQuota(
  store: Pick<Store, 'usage' | 'name'>,
  quotas: UsageQuotas,
  { now }: Pick<Clock, 'now'>,
): UsageQuota {
  const { storedChars, dailyTokens, dailyUsd } = quotas
  if (storedChars === undefined && dailyTokens === undefined && dailyUsd === undefined)
    return { check: async () => undefined }
  if (store.usage === undefined)
    throw new ProvisoError(
      'option/invalid',
      `Cannot apply quotas of storage, tokens or spend: the store ${store.name} does not count them`,
      { hint: 'Implement `usage` of the store, or remove these quotas' },
    )
  const sums = new Map<string, { readonly at: number; readonly usage: Promise<TenantUsage> }>()
  const getUsage = (tenant: string): Promise<TenantUsage> => {
    const known = sums.get(tenant)
    if (known && now() - known.at < freshMs) return known.usage
    const usage = (store.usage as NonNullable<Store['usage']>)({ tenant, from: now() - dayMs })
    usage.catch(() => sums.delete(tenant))
    sums.delete(tenant)
    sums.set(tenant, { at: now(), usage })
    for (const oldest of sums.keys()) {
      if (sums.size <= mostTenants) break
      sums.delete(oldest)
    }
    return usage
  }
  return {
    async check(tenant) {
      const { stored, tokens, costUsd } = await getUsage(tenant)
      if (storedChars !== undefined && stored >= storedChars)
        return refusal(
          'quota/storage',
          `The tenant has stored ${stored} characters; the maximum is ${storedChars} (\`quota.stored_chars\`)`,
          { headers: { 'retry-after': '60' } },
        )
      if (dailyTokens !== undefined && tokens >= dailyTokens)
        return refusal(
          'quota/tokens',
          `The tenant has used ${tokens} tokens in 24 hours; the maximum is ${dailyTokens} (\`quota.daily_tokens\`)`,
          { headers: { 'retry-after': '60' } },
        )
      if (dailyUsd !== undefined && costUsd >= dailyUsd)
        return refusal(
          'quota/spend',
          `The tenant has spent $${costUsd.toFixed(4)} in 24 hours; the maximum is $${dailyUsd} (\`quota.daily_usd\`)`,
          { headers: { 'retry-after': '60' } },
        )
      return undefined
    },
  }
}
