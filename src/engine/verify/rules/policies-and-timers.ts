/** Policies act as often as they may, and timers fire once and not early. */
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
    if (event.type !== 'timer_fired') return
    const { timerId } = event.payload
    const dueAt = due.get(timerId)
    if (dueAt === undefined) report('timer', `"${timerId}" fired, and was not set`)
    else if (event.at < dueAt) report('timer', `"${timerId}" fired ${dueAt - event.at} ms early`)
    due.delete(timerId)
  }
}
