/** A plan answers its request, budgets hold, policies act as often as they may, and timers fire once and not early. */

import type { Usage } from '../../../domain/output.ts'
import { listTriggers } from '../../../domain/policy.ts'
import type { Rule } from './rule.ts'

export function policiesKnowTheirLimits(): Rule {
  const fired = new Map<string, number>()
  return (event, before, report) => {
    if (event.type !== 'policy_triggered' || event.payload.trigger === 'follow_up') return
    const { policyId } = event.payload
    const times = (fired.get(policyId) ?? 0) + 1
    fired.set(policyId, times)
    const policy = (before ? listTriggers(before.envelope.policies) : []).find(({ id }) => id === policyId)
    const most = policy?.maxAttempts ?? Number.POSITIVE_INFINITY
    if (!policy?.enabled) report('policy', `"${policyId}" acted, and is not in force`)
    if (times > most) report('policy', `"${policyId}" acted ${times} times, and may act ${most} times`)
  }
}

/** Of timers that are due at once, the one whose time came first fires first. */
export function timersFireInTheirOrder(): Rule {
  return (event, before, report) => {
    if (event.type !== 'timer_fired' || !before) return
    const { timerId } = event.payload
    const { dueAt = Number.NEGATIVE_INFINITY } = before.timers.get(timerId) ?? {}
    for (const [id, other] of before.timers)
      if (other.dueAt < dueAt || (other.dueAt === dueAt && id < timerId))
        return report('timer', `"${timerId}" fired before "${id}", which was due earlier`)
  }
}

export function timersFireOnceAndNotEarly(): Rule {
  const due = new Map<string, number>()
  return (event, _before, report) => {
    if (event.type === 'timer_set') due.set(event.payload.timerId, event.payload.dueAt)
    // A task has a timer for as long as it is open, which follows its due time.
    if (event.type === 'hitl_assigned') due.set(`ask:${event.payload.requestId}`, event.payload.expiresAt)
    if (event.type !== 'timer_fired') return
    const { timerId } = event.payload
    const dueAt = due.get(timerId)
    if (dueAt === undefined) report('timer', `"${timerId}" fired, and was not set`)
    else if (event.at < dueAt) report('timer', `"${timerId}" fired ${dueAt - event.at} ms early`)
    due.delete(timerId)
  }
}

// Budgets hold at every event.

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

// A plan answers the request that is open.

/** A draft is refused, or becomes the next plan, for the request that is open; each request is answered once. */
export function plansAnswerTheirRequest(): Rule {
  let open: number | undefined
  let version = 0
  let over = false
  return (event, _before, report) => {
    if (event.type === 'plan_requested') {
      open = event.payload.attempt
      if (over && open > 1) report('plan', `draft ${open} is requested although planning had ended`)
      over = false
    }
    if (event.type === 'plan_rejected') {
      over = event.payload.final !== undefined
      if (open !== event.payload.attempt)
        report('plan', `draft ${event.payload.attempt} is refused, and ${open ?? 'none'} was asked for`)
      open = undefined
    }
    if (event.type !== 'plan_generated' || event.payload.metadata.resumed) return
    if (open === undefined) report('plan', 'a plan was recorded without a request')
    if (event.payload.planVersion !== version + 1)
      report('plan', `plan ${event.payload.planVersion} comes after plan ${version}`)
    open = undefined
    version = event.payload.planVersion
  }
}
