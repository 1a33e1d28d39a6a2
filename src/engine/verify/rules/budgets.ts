/** Budgets hold at every event. */
import type { Usage } from '../../../domain/output.ts'
import type { Rule } from './rule.ts'

/** What is set aside and what is spent fit into the limits whenever something more is set aside, and it is all given back. */
export function budgetsAreKept(): Rule {
  const held = new Map<
    string,
    { readonly calls: number; readonly tokens: number; readonly attempt: number }
  >()
  const spent = { calls: 0, tokens: 0 }
  const spend = ({ calls, inputTokens = 0, outputTokens = 0 }: Usage) => {
    spent.calls += calls
    spent.tokens += inputTokens + outputTokens
  }
  return (event, before, report) => {
    const { maxCalls, maxTokens } = before?.plan?.limits ?? {}
    const nodeId = event.nodeId ?? ''
    if (event.type === 'budget_reserved') {
      if (held.has(nodeId)) report('budget', `"${nodeId}" has something set aside already`)
      held.set(nodeId, event.payload)
      const sum = { ...spent }
      for (const { calls, tokens } of held.values()) {
        sum.calls += calls
        sum.tokens += tokens
      }
      if (maxCalls !== undefined && sum.calls > maxCalls)
        report('budget', `${sum.calls} of ${maxCalls} calls are spent or set aside`)
      if (maxTokens !== undefined && sum.tokens > maxTokens)
        report('budget', `${sum.tokens} of ${maxTokens} tokens are spent or set aside`)
    }
    if (event.type === 'budget_settled' && !held.delete(nodeId))
      report('budget', `"${nodeId}" gives back what was not set aside`)
    if (event.type === 'attempt_start' && (maxCalls !== undefined || maxTokens !== undefined))
      if (held.get(nodeId)?.attempt !== event.payload.attempt)
        report('budget', `nothing is set aside for attempt ${event.payload.attempt} of "${nodeId}"`)
    if (event.type === 'attempt_end') {
      if (held.has(nodeId))
        report('budget', `"${nodeId}" has ended, and what was set aside is not given back`)
      spend(event.payload.usage)
    }
    if ((event.type === 'plan_rejected' || event.type === 'plan_generated') && event.payload.usage)
      spend(event.payload.usage)
  }
}
