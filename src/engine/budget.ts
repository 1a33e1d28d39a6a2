/** Reserve, execute, reconcile: what an attempt may cost is set aside before it starts and settled when it has ended. */
import type { NewEvent } from '../domain/event.ts'
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

/** Gives back what an attempt had reserved: just before its end, so that spent and reserved together never pass the limit. */
export function settlement(
  state: RunState,
  now: number,
  end: { nodeId: string; attempt: number; calls: number; tokens: number },
): NewEvent[] {
  if (!state.reserved.has(end.nodeId)) return []
  const { nodeId, attempt, calls, tokens } = end
  return [factsFor(state, now)('budget_settled', { attempt, calls, tokens }, { nodeId })]
}
