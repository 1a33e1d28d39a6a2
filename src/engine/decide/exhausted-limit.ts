/** Names the limit that a run or a node has reached, for the details of `budget/exhausted`. */
import type { NodeState, RunState } from '../../domain/run.ts'

/** In the terms of the error taxonomy. */
type UsedUp = {
  readonly resource: 'turns' | 'context'
  readonly limitName: string
  readonly metrics: { readonly used: number; readonly limit: number }
}

/** Before a node starts: the first of the run's calls, cost and tokens. */
export function usedUp({ plan, budget }: RunState): UsedUp {
  const { maxCalls, maxTokens, maxCostUsd } = plan?.limits ?? {}
  if (maxCalls !== undefined && (budget.calls >= maxCalls || (maxTokens ?? maxCostUsd) === undefined))
    return { resource: 'turns', limitName: 'maxCalls', metrics: { used: budget.calls, limit: maxCalls } }
  if (maxCostUsd !== undefined && (budget.costUsd >= maxCostUsd || maxTokens === undefined))
    return {
      resource: 'turns',
      limitName: 'maxCostUsd',
      metrics: { used: budget.costUsd, limit: maxCostUsd },
    }
  const limit = maxTokens ?? 0
  return { resource: 'context', limitName: 'maxTokens', metrics: { used: budget.tokens, limit } }
}

/**
 * During a call: for tokens and for cost, picks the limit of node or run that leaves less; of these two, the one with the
 * larger used share. Calls are counted before they are made.
 */
export function usedUpWithin({ plan, budget }: RunState, node: NodeState): UsedUp | undefined {
  const { maxTokens, maxCostUsd } = plan?.limits ?? {}
  const { tokenBudget, costBudgetUsd } = node.node
  const tokens = tighter(
    limitOf('tokenBudget', 'context', { used: node.tokens, limit: tokenBudget }),
    limitOf('maxTokens', 'context', { used: budget.tokens, limit: maxTokens }),
  )
  const cost = tighter(
    limitOf('costBudgetUsd', 'turns', { used: node.costUsd, limit: costBudgetUsd }),
    limitOf('maxCostUsd', 'turns', { used: budget.costUsd, limit: maxCostUsd }),
  )
  return tokens && cost ? (share(cost) > share(tokens) ? cost : tokens) : (tokens ?? cost)
}

function limitOf(
  limitName: string,
  resource: UsedUp['resource'],
  { used, limit }: { readonly used: number; readonly limit: number | undefined },
): UsedUp | undefined {
  return limit === undefined ? undefined : { resource, limitName, metrics: { used, limit } }
}

function tighter(own: UsedUp | undefined, whole: UsedUp | undefined): UsedUp | undefined {
  if (!own || !whole) return own ?? whole
  return left(whole) < left(own) ? whole : own
}

function left({ metrics: { used, limit } }: UsedUp): number {
  return limit - used
}

function share({ metrics: { used, limit } }: UsedUp): number {
  return limit > 0 ? used / limit : 1
}
