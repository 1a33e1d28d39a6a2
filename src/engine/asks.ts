/** Asking people: what a question says, that it is bound to what it shows, and what a reply may be. */
import type { Issue } from '../base/issue.ts'
import type { Json } from '../base/json.ts'
import {
  type Ask,
  type AskKind,
  type Decision,
  isAboutAnswer,
  type RejectAction,
  type Reply,
  type Resolution,
} from '../domain/ask.ts'
import type { AttemptRef } from '../domain/call-key.ts'
import type { Failure, NewEvent } from '../domain/event.ts'
import type { Action } from '../domain/policy.ts'
import type { RunState } from '../domain/run.ts'
import { compileSchema } from '../schema/compile.ts'
import { auditLink, valueHash } from './audit.ts'
import { factsFor, type Moment } from './fact.ts'
import { brokenConditions, checkAnswer } from './obligations.ts'
import { allowedAfterRejection } from './rework.ts'

/** What a person may do with each kind of ask. */
export const decisionsOf: Record<AskKind, readonly Decision[]> = {
  approval: ['approve', 'edit', 'reject'],
  final: ['approve', 'edit', 'reject'],
  policy: ['approve', 'reject'],
  side_effect: ['approve', 'reject'],
  failure: ['approve', 'edit', 'answer', 'reject'],
  unknown_outcome: ['approve', 'edit', 'answer', 'reject'],
  task: ['answer', 'reject'],
  clarify: ['answer', 'reject'],
}

export const defaultMaxAsks = 3

export type WantedAsk = Omit<Ask, 'requestId' | 'valueHash' | 'decisions' | 'expiresAt' | 'rejectActions'> & {
  /** Default: those of the kind. */
  readonly decisions?: readonly Decision[]
  /** The call of an earlier plan that it asks about. */
  readonly continues?: AttemptRef
}

/** Asks with the time at which they expire; or, at the limit of asks, what is wrong. */
export function askFacts(state: RunState, moment: Moment, wanted: WantedAsk): NewEvent[] | 'limit' {
  const most = maxAsks(state)
  if (state.asks.size >= most) return 'limit'
  const make = factsFor(state, moment.now)
  const requestId = `${state.runId}:ask:${state.asks.size + 1}`
  const expiresAt = moment.now + moment.askMs
  const hash = valueHash(wanted.value)
  const audit = auditLink(state.audit, {
    runId: state.runId,
    requestId,
    at: moment.now,
    by: 'system',
    what: 'asked',
    subjectHash: hash,
    words: wanted.question,
  })
  const ask = {
    ...wanted,
    ...afterRejection(state, wanted, state.asks.size + 1 >= most),
    requestId,
    valueHash: hash,
    decisions: wanted.decisions ?? decisionsOf[wanted.kind],
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

function maxAsks(state: RunState): number {
  return state.plan?.limits.maxAsks ?? defaultMaxAsks
}

/** What an ask at the limit of asks could not be: the failure, and where the limit is set. */
export function askLimitFailure(state: RunState, why: string): Failure {
  const most = maxAsks(state)
  return {
    code: 'ask/limit',
    message: `Cannot ask a person (${why}): the run has asked ${state.asks.size} of at most ${most} times (constraints.maxAsks)`,
    details: { limit: 'maxAsks', most, setting: 'constraints.maxAsks' },
  }
}

/** A failure about which a person was to be asked, at the limit of asks: it names the limit, too. */
export function unaskedFailure(state: RunState, failure: Failure): Failure {
  const { message, details } = askLimitFailure(state, 'about this failure')
  return {
    ...failure,
    message: `${failure.message}. ${message}`,
    details: { ...failure.details, ...details },
  }
}

/** What a rejection leads to, and what a reply may choose instead. A policy that says what follows has the last word. */
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

/** Kinds whose rejection may lead to more work. */
const answersRejection: ReadonlySet<AskKind> = new Set(['approval', 'final', 'failure', 'policy'])

/** The event of a decision, chained to the audit. */
export function resolveFact(
  state: RunState,
  now: number,
  reply: Omit<Reply, 'decision'> & { readonly decision: Resolution },
): NewEvent {
  const { requestId, decision, value, by, note, rejectAction } = reply
  const audit = auditLink(state.audit, {
    runId: state.runId,
    requestId,
    at: now,
    by,
    what: decision,
    subjectHash: value === undefined ? reply.valueHash : valueHash(value),
    words: note,
    action: rejectAction,
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
      audit,
    },
    { nodeId },
  )
}

/** Nobody is going to answer it any more: it ran out, or the run went another way. */
export function expireFact(
  state: RunState,
  now: number,
  details: { requestId: string; note?: string },
): NewEvent {
  const shown = state.asks.get(details.requestId)?.valueHash ?? ''
  return resolveFact(state, now, { ...details, decision: 'expired', valueHash: shown, by: 'system' })
}

/** Why a reply cannot be taken: `resolved` is a conflict with somebody else's, the rest are mistakes of this one. */
export type ReplyRefusal =
  | { readonly reason: 'unknown' | 'resolved' | 'expired' | 'stale'; readonly message: string }
  | {
      readonly reason: 'invalid'
      readonly message: string
      readonly issues: readonly Issue[]
      readonly hint?: string
    }

export function checkReply(state: RunState, now: number, reply: Reply): ReplyRefusal | undefined {
  const ask = state.asks.get(reply.requestId)
  if (!ask) return { reason: 'unknown', message: `There is no ask "${reply.requestId}" in this run` }
  if (!state.openAsks.has(reply.requestId))
    return { reason: 'resolved', message: `The ask "${reply.requestId}" has been answered already` }
  if (now >= ask.expiresAt) return { reason: 'expired', message: `The ask "${reply.requestId}" has expired` }
  // What is no decision is none about any value, shown or not.
  const wrongForm = checkForm(ask, reply)
  if (wrongForm) return wrongForm
  if (reply.valueHash !== ask.valueHash)
    return {
      reason: 'stale',
      message: 'The reply is about another value than the one shown: look at it again',
    }
  return checkValue(state, ask, reply)
}

const withValue: ReadonlySet<Decision> = new Set(['edit', 'answer'])

/** The decision is one of those that the ask takes, and has a value where it needs one. */
function checkForm(ask: Ask, { decision, value, rejectAction }: Reply): ReplyRefusal | undefined {
  const given = JSON.stringify(decision) ?? 'Nothing'
  const taken = ask.decisions.join(', ')
  if (!ask.decisions.includes(decision))
    return malformed(ask, '/decision', `${given} is no answer to this ask; it takes ${taken}`)
  if (withValue.has(decision) && value === undefined)
    return malformed(ask, '/value', `"${decision}" needs a value`)
  if (!withValue.has(decision) && value !== undefined)
    return malformed(ask, '/value', `"${decision}" takes no value`)
  return rejectAction === undefined ? undefined : checkRejectAction(ask, decision, rejectAction)
}

/** A reply may say what follows only where the ask lets it choose. */
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
      : `Use one of: ${rejectActions.join(', ')}${rejectActions.includes('retry') ? '' : '; retry and replan need a further ask (constraints.maxAsks), and the same value is made again at most 3 times'}`
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

/** A value that a person gives is held to what any other would be. */
function obligations(state: RunState, ask: Ask, value: Json): Issue[] {
  if (isAboutAnswer(ask)) return checkAnswer(state, value).issues
  // An answer is no output: it is held to the question alone, whose schema a stranger may have written.
  if (ask.kind === 'clarify')
    return ask.schema === undefined ? [] : compileSchema(ask.schema, { untrusted: true }).validate(value)
  const node = ask.nodeId === undefined ? undefined : state.nodes.get(ask.nodeId)
  const issues = ask.schema === undefined ? [] : compileSchema(ask.schema).validate(value)
  return issues.length > 0 || !node ? issues : brokenConditions(state, node, value)
}
