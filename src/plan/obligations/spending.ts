/** The limits of a run leave room for what its plan takes: at best, or the plan is rejected; at worst, or a finding reports it. */
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
  const ranges = rows.flatMap(({ limit, amount, unit }) => {
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
  return limits.maxCostUsd === undefined ? ranges : [...ranges, ...unpriced(estimate.unknownPrices ?? [])]
}

/** Nothing says what such a call may cost, so that none is made under a limit of cost. */
function unpriced(models: readonly string[]): Diagnostic[] {
  return models.map((model) =>
    finding('plan/price-unknown', {
      constraint: `the price of the model "${model}" is known, because the run limits its cost`,
      suggestion: `Give its price in \`prices\`, or limit maxTokens instead of maxCostUsd: without a price it is not called`,
      details: { model },
    }),
  )
}
