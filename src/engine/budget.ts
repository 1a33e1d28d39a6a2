/** Reserve, execute, reconcile: what an attempt may cost is set aside before it starts and settled when it has ended. */
import type { NewEvent } from '../domain/event.ts'
import type { Usage } from '../domain/output.ts'
import type { NodeState, RunState } from '../domain/run.ts'
import { factsFor } from './fact.ts'

export interface Reserved {
  readonly calls: number
  readonly tokens: number
}

/**
 * What to set aside for an attempt: nothing where the run has no such limit. `later` while attempts in flight hold what is
 * left (they may give some back), `exhausted` when nobody does.
 */
export function reservation(
  state: RunState,
  _node: NodeState,
  tokens: number,
): Reserved | undefined | 'later' | 'exhausted' {
  const { maxTokens, maxCalls } = state.plan?.limits ?? {}
  if (maxTokens === undefined && maxCalls === undefined) return undefined
  const { budget } = state
  const calls = 1
  const fits =
    budget.calls + budget.reservedCalls + calls <= (maxCalls ?? Number.POSITIVE_INFINITY) &&
    budget.tokens + budget.reservedTokens + tokens <= (maxTokens ?? Number.POSITIVE_INFINITY)
  if (fits) return { calls, tokens }
  return state.reserved.size > 0 ? 'later' : 'exhausted'
}

/** What an attempt is charged: where nobody has counted its tokens, as many as were set aside, for it may have used them. */
export function charged(state: RunState, nodeId: string, usage: Usage): Usage {
  const tokens = state.reserved.get(nodeId)?.tokens ?? 0
  if (tokens === 0 || usage.calls === 0) return usage
  if (usage.inputTokens !== undefined || usage.outputTokens !== undefined) return usage
  return { ...usage, outputTokens: tokens }
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
