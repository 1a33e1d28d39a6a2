/** Who a recorded event comes from, and what the engine decides at its place. */
import type { JournalEvent, NewEvent } from '../../domain/event.ts'
import type { FeedbackSource } from '../../domain/feedback.ts'
import { listTriggers } from '../../domain/policy.ts'
import type { RunState } from '../../domain/run.ts'
import { decide } from '../decide/decide.ts'
import { actionFacts, mayAct } from '../decide/policies.ts'
import { decideStart } from '../decide/start-nodes.ts'
import type { DecisionContext } from '../events.ts'
import { lateResultLog } from '../input/late-result.ts'

/**
 * `outside`: appended by a reply, a cancellation, a resume or a manual trigger, with nothing decided after it. `brought`: what
 * an engine heard of attempts and planners at the beginning of a turn. `decided`: the rest.
 */
type Source = 'outside' | 'brought' | 'decided'

/** `next` is the event that follows it in the journal. */
export function findEventSource(event: JournalEvent, next?: JournalEvent): Source {
  switch (event.type) {
    case 'cancel_requested':
    case 'lease_lost':
    case 'quarantined':
    case 'hitl_approval':
    case 'attempt_settled':
      return 'outside'
    case 'attempt_end':
      return event.payload.interrupted ? 'decided' : 'brought'
    // What an attempt had reserved is given back just before its end.
    case 'budget_settled':
      return next?.type === 'attempt_end' && next.payload.interrupted ? 'decided' : 'brought'
    case 'hitl_assigned':
      return event.payload.change === 'overdue' ? 'decided' : 'outside'
    case 'hitl_resolved':
      return event.payload.decision === 'expired' || event.payload.decision === 'withdrawn'
        ? 'decided'
        : 'outside'
    case 'policy_triggered':
      return event.payload.trigger === 'manual' ? 'outside' : 'decided'
    case 'plan_generated':
      return event.payload.metadata.resumed ? 'outside' : 'brought'
    case 'feedback_recorded':
      return feedbackSources[event.payload.source]
    case 'attempt_accepted':
    case 'turn_start':
    case 'turn_end':
    case 'tool_start':
    case 'tool_end':
    case 'plan_updated':
    case 'plan_rejected':
      return 'brought'
    // What a policy emits follows it in one decision; by itself it is what an attempt reported, or a late result.
    case 'log':
      return event.payload.event === lateResultLog ? 'outside' : 'brought'
    case 'timer_set':
      return event.payload.purpose.kind === 'deadline' ? 'brought' : 'decided'
    default:
      return 'decided'
  }
}

/** An entry comes with what it is about: a reply, a draft, or a decision. */
const feedbackSources: Record<FeedbackSource, Source> = {
  reply: 'outside',
  plan: 'brought',
  validation: 'decided',
  goal: 'decided',
}

/** What the engine decides where this event was recorded; which of the ready nodes has its turn is as recorded. */
export function decidedHere(
  state: RunState,
  context: DecisionContext,
  event: JournalEvent,
): readonly NewEvent[] {
  if (event.type === 'policy_triggered' && event.payload.trigger === 'manual')
    return triggeredByHand(state, context, event)
  const decision = decide(state, context)
  if (decision.kind === 'facts') return decision.facts
  const node = state.nodes.get(event.nodeId ?? '')
  if (decision.kind !== 'ready' || !node || !state.ready.has(node.node.id)) return []
  const start = decideStart(state, context, node)
  if (start === 'later' || 'missing' in start) return []
  return 'facts' in start ? start.facts : start.start.events
}

/** The manual trigger is a fact; whether it may act, and how, is decided. */
function triggeredByHand(
  state: RunState,
  context: DecisionContext,
  { payload }: JournalEvent<'policy_triggered'>,
): readonly NewEvent[] {
  const { policyId, by } = payload
  const policy = listTriggers(state.envelope.policies).find(({ id }) => id === policyId)
  if (!policy?.enabled || policy.trigger.kind !== 'manual' || !mayAct(state, policy)) return []
  const ordered = {
    policyId,
    action: policy.action,
    trigger: 'manual',
    ...(by !== undefined && { by }),
  } as const
  return actionFacts(state, context, ordered)
}

/** What is left to decide without room for an attempt: nothing, after any turn. */
export function overdue(state: RunState, context: DecisionContext): readonly NewEvent[] {
  const decision = decide(state, context)
  if (decision.kind === 'facts') return decision.facts
  if (decision.kind !== 'ready') return []
  for (const nodeId of state.ready) {
    const node = state.nodes.get(nodeId)
    const start = node && decideStart(state, context, node)
    if (start === undefined || start === 'later') continue
    // It may have been at capacity: then no further node was considered.
    return 'facts' in start ? start.facts : []
  }
  return []
}
