/** The limits of a run leave room for what its plan takes: at best, or the plan is rejected; at worst, or that is said. */
import type { Diagnostic } from '../../domain/diagnostic.ts'
import { finding } from '../findings.ts'
import { limitsOf } from '../limits.ts'
import type { Resolved } from '../request.ts'

const rows = [
  { limit: 'maxTokens', amount: 'tokens', unit: 'tokens' },
  { limit: 'maxCostUsd', amount: 'costUsd', unit: 'dollars' },
] as const

export function spending({ request }: Resolved): readonly Diagnostic[] {
  const limits = limitsOf(request)
  if (limits.maxTokens === undefined && limits.maxCostUsd === undefined) return []
  const estimate = request.estimate?.(request.draft)
  if (estimate === undefined) return []
  return rows.flatMap(({ limit, amount, unit }) => {
    const most = limits[limit]
    const range = estimate[amount]
    if (most === undefined || range === undefined || range.most <= most) return []
    const code = range.least > most ? 'plan/over-limit' : 'plan/may-exceed-limit'
    return [
      finding(code, {
        constraint: `${limit} ${most} covers ${range.least} to ${range.most} ${unit}`,
        suggestion: `Raise ${limit} to ${range.most}, or lower callBudget or retries of the nodes`,
        details: { limit: most, least: range.least, most: range.most },
      }),
    ]
  })
}
