/** The limits of a run: what the caller, the draft and the operator allow; of several the smallest counts. */
import type { Limits } from '../domain/plan.ts'
import type { ProveRequest } from './request.ts'

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
  const tokens = envelope.policies.planner.optimisation?.maxTokens
  const given = [
    draft.limits,
    limits,
    envelope.constraints,
    tokens === undefined ? {} : { maxTokens: tokens },
  ]
  const merged = names.flatMap((name) => {
    const values = given.flatMap((each) => {
      const value: unknown = each?.[name]
      return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? [value] : []
    })
    return values.length === 0 ? [] : [[name, Math.min(...values)]]
  })
  return Object.fromEntries(merged)
}
