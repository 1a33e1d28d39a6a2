/**
 * Obligation on the limits of a run: rejects the plan if even its minimum usage exceeds them, and reports a diagnostic if
 * its maximum may.
 */
import type { Diagnostic } from '../../../domain/diagnostic.ts'
import type { Envelope } from '../../../domain/envelope.ts'
import { countAsks } from '../../../domain/plan/count-asks.ts'
import type { Limits } from '../../../domain/plan.ts'
import { isRaoPolicy } from '../../../domain/policy.ts'
import { createDiagnostic } from '../../diagnostics.ts'
import type { ProveRequest, Resolved } from '../proof-request.ts'

const rows = [
  { limit: 'maxTokens', amount: 'tokens', unit: 'tokens' },
  { limit: 'maxCostUsd', amount: 'costUsd', unit: 'dollars' },
] as const

export function spending(resolved: Resolved): readonly Diagnostic[] {
  return [...amounts(resolved), ...asking(resolved)]
}

/** Reports a limit on asks that the plan may exceed; a run that reaches it loses the work done before. */
function asking({ request }: Resolved): Diagnostic[] {
  const { maxAsks } = limitsOf(request)
  if (maxAsks === undefined) return []
  const { planner, runtime, onNodeFail } = request.envelope.policies
  const { askBeforeFinish, hitlRequiredFor, sideEffects } = planner.directives ?? {}
  const capabilities = new Map(request.capabilities.map((each) => [each.capabilityId, each]))
  const asks = countAsks(request.draft, {
    capability: (id) => capabilities.get(id),
    onNodeFail,
    sideEffectsAllowed: sideEffects === 'allow',
    labels: new Set(Array.isArray(hitlRequiredFor) ? hitlRequiredFor.map(String) : []),
    hasRaoPolicy: runtime.some((policy) => isRaoPolicy(policy) && policy.enabled),
  })
  const most = asks + (askBeforeFinish === true ? 1 : 0)
  if (most <= maxAsks) return []
  return [
    createDiagnostic('plan/may-exceed-limit', {
      constraint: `maxAsks ${maxAsks} covers up to ${most} asks`,
      suggestion: `Raise maxAsks to ${most} (max_asks in a pipeline), or lower maxItems or maxRounds around the nodes that ask`,
      details: { limit: maxAsks, most },
    }),
  ]
}

function amounts({ request }: Resolved): readonly Diagnostic[] {
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
      createDiagnostic(code, {
        constraint: `${limit} ${most} covers ${range.least} to ${range.most} ${unit}`,
        suggestion: `Raise ${limit} to ${range.most}, or lower callBudget or retries of the nodes`,
        details: { limit: most, least: range.least, most: range.most },
      }),
    ]
  })
  return limits.maxCostUsd === undefined ? ranges : [...ranges, ...unpriced(estimate.unknownPrices ?? [])]
}

/** Reports models without a price: their cost is unknown, so they are not called in a run with a cost limit. */
function unpriced(models: readonly string[]): Diagnostic[] {
  return models.map((model) =>
    createDiagnostic('plan/price-unknown', {
      constraint: `the price of the model "${model}" is known, because the run limits its cost`,
      suggestion: `Give its price in \`prices\`, or limit maxTokens instead of maxCostUsd: without a price it is not called`,
      details: { model },
    }),
  )
}

// Combines the limits that caller, draft and operator set for a run; the smallest wins.

const names = [
  'maxTokens',
  'maxCalls',
  'maxCostUsd',
  'deadlineMs',
  'concurrency',
  'maxAsks',
  'maxReplans',
] as const satisfies (keyof Limits)[]

export function limitsOf({ draft, envelope, limits }: ProveRequest): Limits {
  return smallest([draft.limits, limits, ...saidIn(envelope)])
}

/** The caller's own limits, which apply before there is a plan. */
export function envelopeLimits(envelope: Envelope): Limits {
  return smallest(saidIn(envelope))
}

type Given = { readonly [name: string]: unknown } | undefined

function saidIn({ constraints, policies }: Envelope): Given[] {
  const tokens = policies.planner.optimisation?.maxTokens
  return [constraints, tokens === undefined ? {} : { maxTokens: tokens }]
}

function smallest(given: readonly (Given | Limits)[]): Limits {
  const least: { [name in (typeof names)[number]]?: number } = {}
  for (const name of names)
    for (const each of given) {
      const value: unknown = each?.[name]
      if (typeof value !== 'number' || !Number.isFinite(value) || value < 0) continue
      least[name] = Math.min(least[name] ?? value, value)
    }
  return least
}
