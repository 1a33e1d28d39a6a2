/** Describes each event and each outcome: one row per name, printed into the reference; the types make it complete. */
import type { EventType } from '../event.ts'
import type { Outcome } from '../output.ts'

export const eventTable: Record<EventType, string> = {
  start:
    'the run was accepted: envelope, ids, hash of the schema, the draft if one was submitted, warnings about older forms',
  plan_requested:
    'a draft is wanted, for the first plan or a new version: with which policies and capabilities',
  plan_rejected:
    'the draft was not proved; the diagnostics say why, `final` why the planner is not asked again',
  plan_generated: 'a proven plan is in force; with `metadata.resumed` a paused run continues with its plan',
  plan_updated: 'a new version replaced a plan; which nodes were kept',
  node_start: 'a node begins',
  iteration_start: 'an item of a map (`node[3]`) or a round of a loop (`node#2`) begins',
  iteration_end: 'an item or a round is over: its output, or why it has none',
  attempt_start: 'a call is about to leave: who is called, with which inputs and idempotency key',
  attempt_accepted:
    'the agent has taken the call and calls back (202): who, and until when its answer is waited for',
  turn_start:
    'an agent is about to ask its model: what is said, the hash of the request; with the first turn its instructions and tools',
  turn_end:
    'the model has answered: its parts as they came, the tool calls with what is done about each (`run`, `ask`, `refuse`), usage; never asked again',
  tool_start: 'a tool is about to be called: with which arguments and idempotency key, and who allowed it',
  tool_end:
    'the tool call has ended: outcome, what the model reads, usage; it is not made again, unless it has a question, which a person answers first',
  attempt_end:
    'the call has ended: outcome, output, issues, usage; `interrupted` if the run moved on meanwhile',
  attempt_settled:
    'a result came after its attempt had ended as unknown, and closes the ask about it; usage was charged before',
  budget_reserved: 'what the attempt may cost was set aside',
  budget_settled: 'what was set aside was given back',
  rao_decision:
    'a RAO contract decided on an answer: `auto_approve`, `human_review` or `suppress`, with thresholds, confidence and reasoning',
  node_complete: 'the output of a node counts',
  node_error: 'a node is given up; a `fail` edge may lead on',
  node_skipped: 'no control edge to the node was followed, or a required input has no source',
  validation_error: 'an input, an output or the answer does not satisfy its contract',
  policy_triggered: 'a runtime policy acts',
  hitl_request: 'a person is asked; the question is bound to the value it shows',
  hitl_approval:
    'one of several people has approved (`policies.approvers`); the ask stays open for the others',
  hitl_assigned:
    'a task was claimed, released or declined, or its time was over: who did it, who has it next, and when it is due',
  hitl_resolved:
    'a person has decided, or the ask expired (`expired`), a late result answered it (`settled`), or a new plan is made (`withdrawn`)',
  feedback_recorded:
    'what a reply, a validation, the check of the answer or a proof said of earlier work; the next attempts and planners get it',
  nodes_reopened: 'a rejected value is made again: its producing nodes and those after them run again',
  timer_set: 'something is due later: a retry, the end of an ask, the deadline, a policy',
  timer_fired: 'it was due',
  lease_lost:
    'a process was too busy to renew its lease during this call, and another process has taken the run',
  quarantined:
    'two leases were lost in one attempt: nothing more is called until an operator resumes or cancels the run',
  cancel_requested: 'the run is to be cancelled',
  log: 'a trace entry: what the reader changed, what a policy emits',
  complete: 'the run is over, always the last event: `completed`, `failed` or `cancelled`',
}

export const outcomeTable: Record<Outcome, string> = {
  ok: 'the output satisfies the contract of the node',
  invalid: 'an answer came that does not; its issues are feedback for the next attempt',
  truncated: 'the answer was cut off',
  refused: 'the model would not answer',
  timed_out: 'the time of the node was over',
  throttled:
    'turned away (429, 503) in each of the five tries of the attempt, before anything was done; the next alternate is called, then the fallback',
  unavailable:
    'not reachable in any of the five tries of the attempt; the next alternate is called, then the fallback',
  provider_error: 'the call failed, or cannot be made here',
  cancelled: 'the run is ending; never tried again',
  unclear:
    'it needs an answer first, and has done nothing without it; a person is asked, and it does not count as a failure. An agent ends so when people decide about calls of its tools, and continues after their replies',
  outcome_unknown:
    'the process died or the run moved on during the call; repeated only if the capability is idempotent, else a person is asked',
}

/** A run that waits has one of these events in its journal: it opened an ask, or a pause of the run. */
export const waitingEvents: ReadonlySet<EventType> = new Set<EventType>([
  'hitl_request',
  'policy_triggered',
  'quarantined',
])
