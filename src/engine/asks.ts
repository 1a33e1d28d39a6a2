/** Asking people: what a question says, that it is bound to what it shows, and what a reply may be. */
import type { Issue } from '../base/issue.ts'
import type { Json } from '../base/json.ts'
import type { Ask, AskKind, Decision, Reply, Resolution } from '../domain/ask.ts'
import type { NewEvent } from '../domain/event.ts'
import type { RunState } from '../domain/run.ts'
import { compileSchema } from '../schema/compile.ts'
import { auditLink, valueHash } from './audit.ts'
import { factsFor, type Moment } from './fact.ts'
import { brokenConditions, checkAnswer } from './obligations.ts'

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

/** Asks with the time at which they expire; or, at the limit of asks, what is wrong. */
export function askFacts(
  state: RunState,
  moment: Moment,
  wanted: Omit<Ask, 'requestId' | 'valueHash' | 'decisions' | 'expiresAt'>,
): NewEvent[] | 'limit' {
  if (state.asks.size >= (state.plan?.limits.maxAsks ?? defaultMaxAsks)) return 'limit'
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
  const ask = { ...wanted, requestId, valueHash: hash, decisions: decisionsOf[wanted.kind], expiresAt }
  return [
    make('hitl_request', { ...ask, audit }, { nodeId: wanted.nodeId }),
    make(
      'timer_set',
      { timerId: `ask:${requestId}`, dueAt: expiresAt, purpose: { kind: 'ask', requestId } },
      { nodeId: wanted.nodeId },
    ),
  ]
}

/** The state in which these asks have been asked already, for facts that are made together with theirs. */
export function afterAsks(state: RunState, facts: readonly NewEvent[]): RunState {
  const asks = facts.filter((event) => event.type === 'hitl_request').map((event) => event.payload)
  const last = asks.at(-1)
  if (!last) return state
  const known = new Map(state.asks)
  for (const { audit: _, ...ask } of asks) known.set(ask.requestId, ask)
  return { ...state, asks: known, audit: last.audit.hash }
}

/** The event of a decision, chained to the audit. */
export function resolveFact(
  state: RunState,
  now: number,
  reply: Omit<Reply, 'decision'> & { readonly decision: Resolution },
): NewEvent {
  const { requestId, decision, value, by, note } = reply
  const audit = auditLink(state.audit, {
    runId: state.runId,
    requestId,
    at: now,
    by,
    what: decision,
    subjectHash: value === undefined ? reply.valueHash : valueHash(value),
    words: note,
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
function checkForm(ask: Ask, { decision, value }: Reply): ReplyRefusal | undefined {
  const given = JSON.stringify(decision) ?? 'Nothing'
  const taken = ask.decisions.join(', ')
  if (!ask.decisions.includes(decision))
    return malformed(ask, '/decision', `${given} is no answer to this ask; it takes ${taken}`)
  if (withValue.has(decision) && value === undefined)
    return malformed(ask, '/value', `"${decision}" needs a value`)
  if (!withValue.has(decision) && value !== undefined)
    return malformed(ask, '/value', `"${decision}" takes no value`)
  return undefined
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
  if (ask.kind === 'final') return checkAnswer(state, value).issues
  // An answer is no output: it is held to the question alone, whose schema a stranger may have written.
  if (ask.kind === 'clarify')
    return ask.schema === undefined ? [] : compileSchema(ask.schema, { untrusted: true }).validate(value)
  const node = ask.nodeId === undefined ? undefined : state.nodes.get(ask.nodeId)
  const issues = ask.schema === undefined ? [] : compileSchema(ask.schema).validate(value)
  return issues.length > 0 || !node ? issues : brokenConditions(state, node, value)
}
