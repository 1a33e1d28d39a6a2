/** Reserve, execute, reconcile: what an attempt may cost is set aside before it starts and settled when it has ended. */
import type { NewEvent } from '../domain/event.ts'
import type { Usage } from '../domain/output.ts'
import type { DraftAllowance } from '../domain/ports/planner.ts'
import type { NodeState, RunState } from '../domain/run.ts'
import { envelopeLimits } from '../plan/index.ts'
import { factsFor, type Moment } from './fact.ts'
import { defaultCallBudget } from './ladder.ts'

export interface Reserved {
  readonly calls: number
  readonly tokens: number
  /** Where the run limits cost. */
  readonly costUsd?: number
}

/** What an attempt would like to have. */
export interface Need {
  /** The kind of its capability: `local` makes no calls, `model` as many as its budget allows, any other one. */
  readonly kind: string
  /** Tokens of one call, as its capability estimates; 0 where it does not say. */
  readonly tokens: number
  /** What it is told, in bytes: no call takes more tokens for it. */
  readonly prompt: () => number
}

/** Functions of this process: what they do is no call of a model or an agent. */
export function isLocal({ kind }: { readonly kind: string }): boolean {
  return kind === 'local'
}

/** For a call that nobody has estimated. */
const roughTokens = 2000

/**
 * What to set aside for an attempt: nothing where the run has no limit, else as many calls as an attempt of the node may make
 * and the run still has, at least one unless it is local. `later` while attempts in flight hold what is left (they may give some back), `exhausted` when
 * nobody does. Prices are not known here, so that under a limit of cost one attempt at a time holds all that is left, or as
 * much as its node's own limit allows.
 */
export function reservation(
  state: RunState,
  node: NodeState,
  need: Need,
): Reserved | undefined | 'later' | 'exhausted' {
  const { maxTokens, maxCalls, maxCostUsd } = state.plan?.limits ?? {}
  if (maxTokens === undefined && maxCalls === undefined && maxCostUsd === undefined) return undefined
  const { budget } = state
  const left = {
    calls: (maxCalls ?? Number.POSITIVE_INFINITY) - budget.calls - budget.reservedCalls,
    tokens: (maxTokens ?? Number.POSITIVE_INFINITY) - budget.tokens - budget.reservedTokens,
    costUsd: (maxCostUsd ?? Number.POSITIVE_INFINITY) - budget.costUsd - budget.reservedCostUsd,
  }
  const isModel = need.kind === 'model'
  const leastCalls = isLocal(need) ? 0 : 1
  const least = isModel ? Math.max(need.tokens, 1) : need.tokens
  const fits = left.calls >= leastCalls && left.tokens >= least && (!isModel || left.costUsd > 0)
  if (!fits) return state.reserved.size > 0 ? 'later' : 'exhausted'
  const calls = isModel ? Math.min(node.node.callBudget ?? defaultCallBudget, left.calls) : leastCalls
  const wanted = isModel ? ((need.tokens || roughTokens) + need.prompt()) * calls : need.tokens
  const { tokenBudget, costBudgetUsd } = node.node
  // A node with limits of its own uses no more than they leave it, and sets no more aside.
  const ownTokens = tokenBudget === undefined ? wanted : Math.max(tokenBudget - node.tokens, least)
  const ownCost = costBudgetUsd === undefined ? left.costUsd : Math.max(costBudgetUsd - node.costUsd, 0)
  return {
    calls,
    tokens: Math.min(wanted, ownTokens, left.tokens),
    ...(maxCostUsd !== undefined && isModel && { costUsd: Math.min(ownCost, left.costUsd) }),
  }
}

/** What an attempt is charged: where nobody has counted its tokens, as many as were set aside, for it may have used them. */
export function charged(state: RunState, nodeId: string, usage: Usage): Usage {
  const tokens = state.reserved.get(nodeId)?.tokens ?? 0
  if (tokens === 0 || usage.calls === 0) return usage
  if (usage.inputTokens !== undefined || usage.outputTokens !== undefined) return usage
  return { ...usage, outputTokens: tokens }
}

/**
 * What an attempt is charged whose end was not seen: all that was set aside, for it may have used it. One call where the run
 * has no limits, none for a local function.
 */
export function worstCaseUsage(
  state: RunState,
  { capability }: Pick<Moment, 'capability'>,
  nodeId: string,
): Usage {
  const held = state.reserved.get(nodeId)
  const known = capability(state.nodes.get(nodeId)?.attempt?.capabilityId ?? '')
  if (!held) return { calls: known && isLocal(known) ? 0 : 1 }
  const { calls, tokens, costUsd } = held
  return { calls, ...(tokens > 0 && { outputTokens: tokens }), ...(costUsd !== undefined && { costUsd }) }
}

/** Gives back what an attempt had reserved: just before its end, so that spent and reserved together never pass the limit. */
export function settlement(
  state: RunState,
  now: number,
  end: { nodeId: string; attempt: number; usage: Usage },
): NewEvent[] {
  if (!state.reserved.has(end.nodeId)) return []
  const { nodeId, attempt } = end
  const { calls, inputTokens = 0, outputTokens = 0 } = end.usage
  const tokens = inputTokens + outputTokens
  return [factsFor(state, now)('budget_settled', { attempt, calls, tokens }, { nodeId })]
}

/** What a planner may spend: the run's limits, before there is a plan the caller's, less what is spent. Nothing is in flight then. */
export function leftToSpend(state: RunState): DraftAllowance {
  const { maxCalls, maxTokens, maxCostUsd } = state.plan?.limits ?? envelopeLimits(state.envelope)
  const { budget } = state
  return {
    ...(maxCalls !== undefined && { calls: Math.max(maxCalls - budget.calls, 0) }),
    ...(maxTokens !== undefined && { tokens: Math.max(maxTokens - budget.tokens, 0) }),
    ...(maxCostUsd !== undefined && { costUsd: Math.max(maxCostUsd - budget.costUsd, 0) }),
  }
}
