/**
 * Limits of a run. Budget by reserve, execute, reconcile: reserves the cost of an attempt before it starts and settles it
 * when it has ended. The deadline is a timer.
 */
import type { NewEvent } from '../../domain/event.ts'
import { attemptUsage } from '../../domain/loop/loop-state.ts'
import { addUsage, type Usage } from '../../domain/output.ts'
import type { Limits } from '../../domain/plan.ts'
import type { DraftAllowance } from '../../domain/ports/planner.ts'
import type { NodeState, RunState } from '../../domain/run.ts'
import { envelopeLimits } from '../../plan/index.ts'
import { type DecisionContext, factsFor } from '../events.ts'
import { defaultCallBudget } from './after-failure.ts'

export interface Reserved {
  readonly calls: number
  readonly tokens: number
  /** Set if the run limits cost. */
  readonly costUsd?: number
}

/** The estimated need of an attempt. */
interface Need {
  /** The kind of its capability: `local` makes no calls, `model` as many as its budget allows, all others one. */
  readonly kind: string
  /** Tokens of one call, as the capability estimates; 0 without an estimate. */
  readonly tokens: number
  /** Of an agent: most turns of its model. */
  readonly turns?: number | undefined
  /** Size of the prompt in bytes: an upper bound of its tokens. */
  readonly prompt: () => number
}

/** Whether the capability is a function of this process: it does not call a model or an agent. */
export function isLocal({ kind }: { readonly kind: string }): boolean {
  return kind === 'local'
}

/** Default for calls without an estimate. */
const roughTokens = 2000

/**
 * Computes the reservation of an attempt: none if the run has no limit, else as many calls as the node allows and the run
 * has left, at least one unless it is local. Returns `later` while attempts in flight hold the rest (they may return
 * some), `exhausted` if no attempt does. Prices are not known here, so under a cost limit one attempt at a time reserves
 * all that is left, or as much as its node's own limit allows.
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
  const calls = isModel
    ? Math.min(node.node.callBudget ?? need.turns ?? defaultCallBudget, left.calls)
    : leastCalls
  const wanted = isModel ? ((need.tokens || roughTokens) + need.prompt()) * calls : need.tokens
  const { tokenBudget, costBudgetUsd } = node.node
  // A node with limits of its own cannot use more than they leave, so no more is reserved.
  const ownTokens = tokenBudget === undefined ? wanted : Math.max(tokenBudget - node.tokens, least)
  const ownCost = costBudgetUsd === undefined ? left.costUsd : Math.max(costBudgetUsd - node.costUsd, 0)
  return {
    calls,
    tokens: Math.min(wanted, ownTokens, left.tokens),
    ...(maxCostUsd !== undefined && isModel && { costUsd: Math.min(ownCost, left.costUsd) }),
  }
}

/** Returns the usage to charge: without a reported token count the full reservation, because the attempt may have used it. */
export function charged(state: RunState, nodeId: string, usage: Usage): Usage {
  const tokens = state.reserved.get(nodeId)?.tokens ?? 0
  if (tokens === 0 || usage.calls === 0) return usage
  if (usage.inputTokens !== undefined || usage.outputTokens !== undefined) return usage
  return { ...usage, outputTokens: tokens }
}

/**
 * Returns the usage of an attempt whose end was not observed: the full reservation, because it may have used it. One call
 * if the run has no limits, none for a local function.
 */
export function worstCaseUsage(
  state: RunState,
  { capability }: Pick<DecisionContext, 'capability'>,
  nodeId: string,
): Usage {
  const held = state.reserved.get(nodeId)
  const { attempt, loop } = state.nodes.get(nodeId) ?? {}
  const known = capability(attempt?.capabilityId ?? '')
  const recorded = loop && attempt && attemptUsage(loop, attempt.attempt)
  // Of an agent, at most the turn under way is not in the journal.
  if (!held && recorded) return addUsage(recorded, { calls: 1 })
  if (!held) return { calls: known && isLocal(known) ? 0 : 1 }
  const { calls, tokens, costUsd } = held
  return { calls, ...(tokens > 0 && { outputTokens: tokens }), ...(costUsd !== undefined && { costUsd }) }
}

/** Releases the reservation of an attempt just before its end, so that spent plus reserved never exceeds the limit. */
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

/**
 * What a planner may spend: the limits of the run, or of the caller before there is a plan, minus what is spent. No
 * attempt is in flight then.
 */
export function leftToSpend(state: RunState): DraftAllowance {
  const { maxCalls, maxTokens, maxCostUsd } = state.plan?.limits ?? envelopeLimits(state.envelope)
  const { budget } = state
  return {
    ...(maxCalls !== undefined && { calls: Math.max(maxCalls - budget.calls, 0) }),
    ...(maxTokens !== undefined && { tokens: Math.max(maxTokens - budget.tokens, 0) }),
    ...(maxCostUsd !== undefined && { costUsd: Math.max(maxCostUsd - budget.costUsd, 0) }),
  }
}

// The deadline of a run: the earliest that the caller or any plan sets, counted from the start.

/** Timer id of the deadline. */
export const deadlineTimer = 'deadline'

/** Sets the deadline timer or moves it earlier; does nothing if the present one is at least as early. */
export function deadlineFacts(
  { startedAt, timers, planVersion }: Pick<RunState, 'startedAt' | 'timers' | 'planVersion'>,
  now: number,
  { deadlineMs }: Pick<Limits, 'deadlineMs'>,
): NewEvent[] {
  if (deadlineMs === undefined) return []
  const dueAt = startedAt + deadlineMs
  const present = timers.get(deadlineTimer)?.dueAt
  if (present !== undefined && present <= dueAt) return []
  return [
    factsFor({ planVersion }, now)('timer_set', {
      timerId: deadlineTimer,
      dueAt,
      purpose: { kind: 'deadline' },
    }),
  ]
}
