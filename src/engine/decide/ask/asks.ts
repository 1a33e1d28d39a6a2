/** Asks (human-in-the-loop requests): creates them, binds each to the value it shows by a hash, and validates replies. */
import type { Issue } from '../../../base/errors/issue.ts'
import { isObject, type Json } from '../../../base/json.ts'
import {
  type Ask,
  type AskKind,
  type Decision,
  identifyPerson,
  isAboutAnswer,
  type RejectAction,
  type Reply,
  type Resolution,
} from '../../../domain/ask.ts'
import type { AttemptRef } from '../../../domain/attempt/call-key.ts'
import type { Failure, NewEvent } from '../../../domain/event.ts'
import { defaultMaxAsks, defaultMaxToolAsks } from '../../../domain/plan/count-asks.ts'
import type { Action } from '../../../domain/policy.ts'
import type { NodeState, RunState } from '../../../domain/run.ts'
import { type Assignment, isHolder, type TaskPerson, whyNotFor } from '../../../domain/task/assignment.ts'
import { compileSchema } from '../../../schema/compile/compile.ts'
import { type DecisionContext, factsFor } from '../../events.ts'
import { brokenConditions, checkAnswer } from '../checks/obligations.ts'
import { takeRoute } from '../checks/routes.ts'
import { auditLink, grantAction, valueHash } from './audit.ts'
import { allowedAfterRejection } from './rework.ts'

/** Allowed decisions per kind of ask. */
export const decisionsByKind: Record<AskKind, readonly Decision[]> = {
  approval: ['approve', 'edit', 'reject'],
  final: ['approve', 'edit', 'reject'],
  policy: ['approve', 'reject'],
  side_effect: ['approve', 'reject'],
  failure: ['approve', 'edit', 'answer', 'reject'],
  unknown_outcome: ['approve', 'edit', 'answer', 'reject'],
  task: ['answer', 'reject'],
  clarify: ['answer', 'reject'],
  tool: ['approve', 'edit', 'reject'],
}

export type WantedAsk = Omit<Ask, 'requestId' | 'valueHash' | 'decisions' | 'expiresAt' | 'rejectActions'> & {
  /** Default: the decisions of the kind. */
  readonly decisions?: readonly Decision[]
  /** The call of an earlier plan that the ask is about. */
  readonly continues?: AttemptRef
}

/** Creates an ask and its expiry timer; returns `limit` if the run has reached its limit of asks. */
export function askFacts(state: RunState, context: DecisionContext, wanted: WantedAsk): NewEvent[] | 'limit' {
  const { most, raised } = askAllowance(state, wanted.kind)
  if (raised >= most) return 'limit'
  const make = factsFor(state, context.now)
  const requestId = `${state.runId}:ask:${state.asks.size + 1}`
  const { dueSeconds } = wanted.assignment ?? {}
  const expiresAt = context.now + (dueSeconds === undefined ? context.askMs : dueSeconds * 1_000)
  const hash = valueHash(wanted.value)
  const audit = auditLink(state.audit, {
    runId: state.runId,
    requestId,
    at: context.now,
    by: 'system',
    what: 'asked',
    subjectHash: hash,
    words: wanted.question,
  })
  const ask = {
    ...wanted,
    ...afterRejection(state, wanted, raised + 1 >= most),
    requestId,
    valueHash: hash,
    decisions: wanted.decisions ?? decisionsByKind[wanted.kind],
    ...severalApprovers(state, wanted),
    expiresAt,
  }
  return [
    make('hitl_request', { ...ask, audit }, { nodeId: wanted.nodeId }),
    make(
      'timer_set',
      { timerId: `ask:${requestId}`, dueAt: expiresAt, purpose: { kind: 'ask', requestId } },
      { nodeId: wanted.nodeId },
    ),
  ]
}

/** Kinds of asks that the policy `approvers` applies to: approvals of something that is shown. */
const needsApprovers: ReadonlySet<AskKind> = new Set(['approval', 'final', 'policy', 'side_effect'])

/** Several people approve the same value, so none of them may edit it. */
function severalApprovers(
  { envelope }: RunState,
  { kind, decisions }: WantedAsk,
): Partial<Pick<Ask, 'approvers' | 'decisions'>> {
  const { approvers = 1 } = envelope.policies
  // Other asks about tools are no approvals: they have decisions of their own.
  const isApproval = needsApprovers.has(kind) || (kind === 'tool' && decisions === undefined)
  return approvers > 1 && isApproval ? { approvers, decisions: ['approve', 'reject'] } : {}
}

/** Whether an approval is not the last one that the ask needs. */
export function needsMoreApprovals(state: RunState, { requestId, decision }: Reply): boolean {
  const { approvers = 1 } = state.asks.get(requestId) ?? {}
  return decision === 'approve' && (state.approvals?.get(requestId)?.length ?? 0) + 1 < approvers
}

/** Records one of several approvals, linked to the audit chain. */
export function approvalFact(state: RunState, now: number, reply: Reply): NewEvent {
  const { requestId, valueHash: subjectHash, by, note } = reply
  const { runId } = state
  const audit = auditLink(state.audit, {
    runId,
    requestId,
    at: now,
    by,
    what: 'approve',
    subjectHash,
    words: note,
  })
  return factsFor(state, now)(
    'hitl_approval',
    { requestId, valueHash: subjectHash, by, ...(note !== undefined && { note }), audit },
    { nodeId: state.asks.get(requestId)?.nodeId },
  )
}

/**
 * How often the run may ask, and has asked. Without a limit of its own, asks about tool calls are counted apart: agents ask
 * as part of their work, and their turns bound them. Withdrawn asks do not count: a new plan raises those again for the
 * same value, or does not need them.
 */
function askAllowance(
  { plan, asks, withdrawals }: RunState,
  kind?: AskKind,
): { readonly most: number; readonly raised: number } {
  const most = plan?.limits.maxAsks
  const { tool, other } = withdrawals
  if (most !== undefined) return { most, raised: asks.size - tool - other }
  const aboutTools = [...asks.values()].filter((ask) => ask.kind === 'tool').length
  return kind === 'tool'
    ? { most: defaultMaxToolAsks, raised: aboutTools - tool }
    : { most: defaultMaxAsks, raised: asks.size - aboutTools - other }
}

/** The failure of an ask beyond the limit: why it was needed, and where the limit is set. */
export function askLimitFailure(state: RunState, why: string, kind?: AskKind): Failure {
  const { most, raised } = askAllowance(state, kind)
  return {
    code: 'ask/limit',
    message: `Cannot ask a person (${why}): the run has asked ${raised} of at most ${most} times (constraints.maxAsks)`,
    details: { limit: 'maxAsks', most, setting: 'constraints.maxAsks' },
  }
}

/** Extends a failure that a person should have been asked about with the limit of asks that prevented it. */
export function unaskedFailure(state: RunState, failure: Failure): Failure {
  const { message, details } = askLimitFailure(state, 'about this failure')
  return {
    ...failure,
    message: `${failure.message}. ${message}`,
    details: { ...failure.details, ...details },
  }
}

/**
 * Returns the default action after a rejection and the actions that a reply may choose instead. A policy's own action cannot be
 * overridden by a reply.
 */
function afterRejection(
  state: RunState,
  { kind, nodeId, policyId, producers, rejectAction }: WantedAsk,
  isLastAsk: boolean,
): Pick<Ask, 'rejectAction' | 'rejectActions'> {
  if (!answersRejection.has(kind)) return {}
  const about = { subject: nodeId ?? '', producers: producers ?? [], isLastAsk }
  const rejectActions = allowedAfterRejection(state, about)
  if (rejectAction === undefined) return { rejectActions }
  const { type } = rejectAction
  // A policy's new plan need not ask again.
  const isMoreWork = type === 'retry' || (type === 'replan' && policyId === undefined)
  const isPossible = !isMoreWork || rejectActions.includes(type)
  const usual: Action = isPossible ? rejectAction : { type: 'fail' }
  return policyId === undefined ? { rejectActions, rejectAction: usual } : { rejectAction: usual }
}

/** Kinds whose rejection may lead to more work. A rejected side effect has produced nothing, so only a new plan can follow. */
const answersRejection: ReadonlySet<AskKind> = new Set([
  'approval',
  'final',
  'failure',
  'policy',
  'side_effect',
])

/** Records a decision, linked to the audit chain. */
export function resolveFact(
  state: RunState,
  now: number,
  reply: Omit<Reply, 'decision'> & { readonly decision: Resolution },
): NewEvent {
  const { requestId, decision, value, by, note, rejectAction, grant } = reply
  const audit = auditLink(state.audit, {
    runId: state.runId,
    requestId,
    at: now,
    by,
    what: decision,
    subjectHash: value === undefined ? reply.valueHash : valueHash(value),
    words: note,
    action: rejectAction ?? grantAction(grant),
  })
  const nodeId = state.asks.get(requestId)?.nodeId
  return factsFor(state, now)(
    'hitl_resolved',
    {
      requestId,
      decision,
      ...(value !== undefined && { value }),
      valueHash: reply.valueHash,
      by,
      ...(note !== undefined && { note }),
      ...(rejectAction !== undefined && { rejectAction }),
      ...(grant !== undefined && { grant }),
      audit,
    },
    { nodeId },
  )
}

/** Closes an ask without an answer: it expired, or the run no longer needs it. */
export function expireFact(
  state: RunState,
  now: number,
  details: { requestId: string; note?: string },
): NewEvent {
  const shown = state.asks.get(details.requestId)?.valueHash ?? ''
  return resolveFact(state, now, { ...details, decision: 'expired', valueHash: shown, by: 'system' })
}

/** Withdraws an ask because of a new plan, which raises it again for the same value if it has the same work. */
export function withdrawFact(state: RunState, now: number, requestId: string): NewEvent {
  const valueHash = state.asks.get(requestId)?.valueHash ?? ''
  const note = 'A new plan is made'
  return resolveFact(state, now, { requestId, decision: 'withdrawn', valueHash, by: 'system', note })
}

/** Why a reply is refused: `resolved` is a conflict with another reply, all others are errors in this one. */
export type ReplyRefusal =
  | {
      readonly reason: 'unknown' | 'resolved' | 'expired' | 'stale' | 'claimed' | 'forbidden'
      readonly message: string
    }
  | {
      readonly reason: 'invalid'
      readonly message: string
      readonly issues: readonly Issue[]
      readonly hint?: string
    }

export function checkReply(state: RunState, now: number, reply: Reply): ReplyRefusal | undefined {
  const ask = findOpen(state, now, reply.requestId)
  if ('reason' in ask) return ask
  const notTheirs = ask.assignment && checkPerson(ask.assignment, reply)
  if (notTheirs) return notTheirs
  // The form is checked before the hash: an invalid decision is invalid for any value.
  const wrongForm = checkForm(ask, reply)
  if (wrongForm) return wrongForm
  if (reply.valueHash !== ask.valueHash)
    return {
      reason: 'stale',
      message: 'The reply is about another value than the one shown: read the ask again',
    }
  return checkApprover(state, ask, reply) ?? checkValue(state, ask, reply)
}

/** Returns an ask that can be answered. */
export function findOpen(state: RunState, now: number, requestId: string): Ask | ReplyRefusal {
  const ask = state.asks.get(requestId)
  if (!ask) return { reason: 'unknown', message: `Ask "${requestId}" not found in this run` }
  if (!state.openAsks.has(requestId)) return { reason: 'resolved', message: whyClosed(state, requestId) }
  // The journal has the cancellation; the run ends, and its asks with it, as soon as a process carries that out.
  if (state.cancel && !state.finished)
    return {
      reason: 'resolved',
      message: `The ask "${requestId}" is closed: ${state.cancel.by} has cancelled the run`,
    }
  return now >= ask.expiresAt ? { reason: 'expired', message: `The ask "${requestId}" has expired` } : ask
}

/** A task is done by its holder; without one, by a person that it is for. */
export function checkPerson(assignment: Assignment, person: TaskPerson): ReplyRefusal | undefined {
  if (isHolder(assignment, person)) return undefined
  const why = whyNotFor(assignment, person)
  if (why !== undefined) return { reason: 'forbidden', message: `Cannot act on this task: ${why}` }
  const { claimedBy } = assignment
  return claimedBy === undefined
    ? undefined
    : { reason: 'claimed', message: `The task is claimed by ${JSON.stringify(claimedBy)}` }
}

/** Each of several approvals must come from another person. */
function checkApprover(
  { approvals }: RunState,
  { requestId, approvers = 1 }: Ask,
  { decision, by }: Reply,
): ReplyRefusal | undefined {
  const given = approvals?.get(requestId) ?? []
  const isSame = decision === 'approve' && given.some((one) => identifyPerson(one) === identifyPerson(by))
  if (!isSame) return undefined
  const message = `${JSON.stringify(by)} has approved this ask already: it needs the approval of ${approvers} different people`
  const hint = 'Let another person approve it, with a token of their own'
  return {
    reason: 'invalid',
    message,
    hint,
    issues: [{ code: 'ask/invalid', at: { pointer: '/by' }, message, hint }],
  }
}

/** Says why an ask is closed: answered, withdrawn or expired, or closed by the end of the run. */
function whyClosed({ finished, unanswered }: RunState, requestId: string): string {
  const about = `The ask "${requestId}"`
  if (!unanswered?.has(requestId)) return `${about} has been answered already`
  if (!finished) return `${about} was withdrawn or has expired: it cannot be answered `
  const why = finished.error ? ` (${finished.error.code}: ${finished.error.message})` : ''
  return `${about} was not answered before the run ended: it is ${finished.status}${why}`
}

const withValue: ReadonlySet<Decision> = new Set(['edit', 'answer'])
const mayGrant: ReadonlySet<Decision> = new Set(['approve', 'edit'])

/** Checks that the ask allows the decision, and that it has a value if and only if it needs one. */
function checkForm(ask: Ask, { decision, value, rejectAction, grant }: Reply): ReplyRefusal | undefined {
  const given = JSON.stringify(decision) ?? 'Nothing'
  const taken = ask.decisions.join(', ')
  if (!ask.decisions.includes(decision))
    return malformed(ask, '/decision', `${given} is no answer to this ask; it takes ${taken}`)
  if (withValue.has(decision) && value === undefined)
    return malformed(ask, '/value', `"${decision}" needs a value`)
  if (!withValue.has(decision) && value !== undefined)
    return malformed(ask, '/value', `"${decision}" takes no value`)
  if (grant !== undefined && (!ask.grants?.includes(grant) || !mayGrant.has(decision)))
    return malformed(ask, '/grant', `"${decision}" of this ask takes no grant`)
  return rejectAction === undefined ? undefined : checkRejectAction(ask, decision, rejectAction)
}

/** A reply may choose the action after a rejection only where the ask allows it. */
function checkRejectAction(
  { kind, rejectActions = [] }: Ask,
  decision: Decision,
  given: RejectAction,
): ReplyRefusal | undefined {
  if (decision === 'reject' && rejectActions.includes(given)) return undefined
  const message =
    decision !== 'reject'
      ? `rejectAction belongs to "reject", not to ${JSON.stringify(decision)}`
      : `rejectAction ${JSON.stringify(given)} is not possible for this ask`
  const hint =
    rejectActions.length === 0
      ? `Leave rejectAction out: an ask of kind "${kind}" does not take one`
      : `Use one of: ${rejectActions.join(', ')}${rejectActions.includes('retry') || kind === 'side_effect' ? '' : '; retry and replan need a further ask (constraints.maxAsks), and the same value is made again at most 3 times'}`
  const issue = { code: 'ask/invalid', at: { pointer: '/rejectAction' }, message, hint }
  return { reason: 'invalid', message, hint, issues: [issue] }
}

function malformed({ decisions }: Ask, pointer: string, message: string): ReplyRefusal {
  const ways = decisions.map((decision) => (withValue.has(decision) ? `${decision} with a value` : decision))
  const hint = `Decide one of: ${ways.join(', ')}`
  return {
    reason: 'invalid',
    message,
    hint,
    issues: [{ code: 'ask/invalid', at: { pointer }, message, hint }],
  }
}

function checkValue(state: RunState, ask: Ask, reply: Reply): ReplyRefusal | undefined {
  if (reply.value === undefined) return undefined
  const issues = obligations(state, ask, reply.value)
  const what = ask.kind === 'clarify' ? 'what the question asks for' : 'the contract'
  return issues.length === 0
    ? undefined
    : { reason: 'invalid', message: `The value does not satisfy ${what}`, issues }
}

/** Validates a value from a person against the same contract and conditions as any other output. */
function obligations(state: RunState, ask: Ask, value: Json): Issue[] {
  if (isAboutAnswer(ask)) return checkAnswer(state, value).issues
  // An answer is not an output: only the schema of the question applies, which may be untrusted.
  if (ask.kind === 'clarify')
    return ask.schema === undefined ? [] : compileSchema(ask.schema, { untrusted: true }).validate(value)
  // Arguments or the result of a tool are not an output of the node.
  const node = ask.nodeId === undefined || ask.toolCall ? undefined : state.nodes.get(ask.nodeId)
  const issues =
    ask.schema === undefined ? [] : compileSchema(ask.schema, state.compileOptions).validate(value)
  if (issues.length > 0 || !node) return issues
  return node.node.routing ? routeIssues(node, value) : brokenConditions(state, node, value)
}

/** The conditions choose the route, even for a value from a person: the plan is proved for these conditions. */
function routeIssues(node: NodeState, value: Json): Issue[] {
  const taken = takeRoute(node, value)
  if (!taken) {
    const message = `No route of "${node.node.id}" applies to the value, and it has no elseTo`
    return [{ code: 'node/no-route', at: { pointer: '' }, message }]
  }
  const { label } = taken
  const given = isObject(value) ? value['route'] : undefined
  // Without a label, an input of that name is passed through unchanged.
  const isOwn = label === undefined && Object.hasOwn(node.node.inputs, 'route')
  if (given === undefined || given === label || isOwn) return []
  const message = `The conditions choose ${label === undefined ? 'a route without a label' : `the route ${JSON.stringify(label)}`}, not ${JSON.stringify(given)}`
  const hint = 'Leave `route` out, and change the values that the conditions read'
  return [{ code: 'ask/invalid', at: { pointer: '/route' }, message, hint }]
}
