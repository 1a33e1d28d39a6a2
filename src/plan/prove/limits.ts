/** Combines the limits that caller, draft and operator set for a run; the smallest wins. */
import type { Envelope } from '../../domain/envelope.ts'
import type { Limits } from '../../domain/plan.ts'
import type { ProveRequest } from './proof-request.ts'

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
  const merged = names.flatMap((name) => {
    const values = given.flatMap((each) => {
      const value: unknown = each?.[name]
      return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? [value] : []
    })
    return values.length === 0 ? [] : [[name, Math.min(...values)]]
  })
  return Object.fromEntries(merged)
}
