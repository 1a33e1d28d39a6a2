/**
 * The one checker of histories: what must hold of every journal, after any crash. The simulation, the
 * kill tests and `proviso verify` all ask it.
 */
import { canonicalJson } from '../../base/canonical.ts'
import type { Issue } from '../../base/errors/issue.ts'
import type { JournalEvent } from '../../domain/event.ts'
import type { AskRow, AuditRow } from '../../domain/ports/store.ts'
import { applyEvent, begin } from '../../domain/run/fold.ts'
import type { RunHead, RunState } from '../../domain/run.ts'
import { getRunStatus } from '../journal/run-head.ts'
import {
  asksAreAnsweredOnceInTimeAndAsShown,
  compareAsks,
  labelledNodesHaveAPerson,
  questionsAreAnsweredFirst,
  reworkFollowsARejection,
  theAnswerIsTheOneThatWasApproved,
  theAuditIsAChain,
  whatIsDeniedDoesNotHappen,
} from './rules/asks.ts'
import {
  acceptedCallsAreWaitedFor,
  attemptsEndWhenTheRunMovesOn,
  attemptsStartOnceAndEndOnce,
  lateResultsSettleTheirAsk,
  nothingAfterTheEnd,
  nothingStartsWhileHeld,
  outputsAreOfTheirAttempt,
  triesAreCounted,
} from './rules/attempts.ts'
import {
  aKeyNamesOneCall,
  doubtsAreNamedAtTheEnd,
  keysStayWhileInDoubt,
  nothingInDoubtIsRepeatedUnasked,
} from './rules/doubt.ts'
import { loopsKeepTheirFacts } from './rules/loops.ts'
import {
  answersAreWhole,
  iterationsAreWhatTheyYield,
  nodesSettleOnce,
  nodesStartWhenRouteIsOpen,
} from './rules/nodes.ts'
import {
  budgetsAreKept,
  plansAnswerTheirRequest,
  policiesKnowTheirLimits,
  timersFireInTheirOrder,
  timersFireOnceAndNotEarly,
} from './rules/plans-and-limits.ts'
import type { Rule } from './rules/rule.ts'

/** What a journal is held against, where it is known. */
interface Beside {
  readonly head?: Pick<RunHead, 'seq' | 'status' | 'planVersion'>
  readonly audit?: readonly AuditRow[]
  /** What people see of its asks. */
  readonly asks?: readonly AskRow[]
}

/** Every violation, located by sequence number; empty for a history that is as it should be. */
export function verifyHistory(events: readonly JournalEvent[], beside: Beside = {}): Issue[] {
  const issues: Issue[] = []
  const report = (seq: number, rule: string, message: string) =>
    issues.push({ code: `history/${rule}`, at: { pointer: `/${seq}` }, message: `event ${seq}: ${message}` })
  const rules = createRules()
  let state: RunState | undefined
  for (const [index, event] of events.entries()) {
    if (event.seq !== index + 1) report(event.seq, 'gap', `its place is ${index + 1}`)
    for (const rule of rules) rule(event, state, (name, message) => report(event.seq, name, message))
    try {
      if (state) applyEvent(state, event)
      else state = begin(event.runId, event)
      for (const message of stateFaults(state)) report(event.seq, 'state', message)
    } catch (cause) {
      report(event.seq, 'fold', cause instanceof Error ? cause.message : String(cause))
      return issues
    }
  }
  if (state) compareHead(state, beside, (rule, message) => report(events.length, rule, message))
  if (beside.audit) compareAudit(events, beside.audit, report)
  if (beside.asks) compareAsks(events, beside.asks, (seq, message) => report(seq, 'ask-row', message))
  return issues
}

/** What no prefix of a history may show. */
function* stateFaults(state: RunState): Generator<string> {
  const { budget, plan } = state
  const { maxCalls, maxTokens } = plan?.limits ?? {}
  if (budget.reservedCostUsd < -1e-9) yield 'more cost was given back than reserved'
  if (budget.reservedCalls < 0 || budget.reservedTokens < 0) yield 'more was given back than reserved'
  if (maxCalls !== undefined && budget.calls + budget.reservedCalls > maxCalls)
    yield `the budget of ${maxCalls} calls is exceeded`
  if (maxTokens !== undefined && budget.reservedTokens > maxTokens)
    yield `more than ${maxTokens} tokens are reserved`
  if (state.finished && state.running.size > 0)
    yield `the run is over while ${[...state.running].join(', ')} run`
  if (state.finished && state.openAsks.size > 0) yield 'the run is over while an ask is open'
  if (state.finished && state.reserved.size > 0) yield 'the run is over while something is reserved'
  if (state.unsettled < 0) yield 'more nodes are settled than there are'
}

function compareHead(
  state: RunState,
  { head }: Beside,
  report: (rule: string, message: string) => void,
): void {
  if (head && head.seq !== state.seq)
    report('head', `the head is at ${head.seq}, the journal at ${state.seq}`)
  if (head && head.planVersion !== state.planVersion)
    report('head', `the head has plan version ${head.planVersion}, the journal ${state.planVersion}`)
  if (head && head.status !== getRunStatus(state))
    report('head', `the head says ${head.status}, the journal ${getRunStatus(state)}`)
}

/** Row by row: a chain that ends right says nothing of rows that were changed or taken out before its end. */
function compareAudit(
  events: readonly JournalEvent[],
  audit: readonly AuditRow[],
  report: (seq: number, rule: string, message: string) => void,
): void {
  const rows = new Map(audit.map((row) => [row.seq, row]))
  for (const event of events) {
    if (!isAudited(event)) continue
    const row = rows.get(event.seq)
    rows.delete(event.seq)
    if (row === undefined) report(event.seq, 'audit', 'the audit table lacks it')
    else if (canonicalJson({ ...row }) !== canonicalJson({ ...auditRow(event) }))
      report(event.seq, 'audit', 'the audit table says something else of it')
  }
  for (const seq of rows.keys()) report(seq, 'audit', 'the audit table has it, and the journal does not')
}

type Audited = JournalEvent<'hitl_request' | 'hitl_approval' | 'hitl_assigned' | 'hitl_resolved'>

const audited: ReadonlySet<string> = new Set<Audited['type']>([
  'hitl_request',
  'hitl_approval',
  'hitl_assigned',
  'hitl_resolved',
])

function isAudited(event: JournalEvent): event is Audited {
  return audited.has(event.type)
}

function auditRow(event: Audited): AuditRow {
  const { runId, seq, at } = event
  const { requestId, audit } = event.payload
  const row = { runId, requestId, seq, at, ...audit }
  if (event.type === 'hitl_request') return { ...row, by: 'system', what: 'asked' }
  if (event.type === 'hitl_assigned') return { ...row, by: event.payload.by, what: event.payload.change }
  const what = event.type === 'hitl_approval' ? 'approve' : event.payload.decision
  return { ...row, by: event.payload.by, what }
}

// What must hold of every event of a history, one rule each. A rule reads the event, the state before it, and what
// it has noted itself; it does not ask the code that decided, so that a mistake there is not repeated here.

/** Fresh rules for one history: each keeps its own notes. */
function createRules(): readonly Rule[] {
  return makers.map((make) => make())
}

const makers: readonly (() => Rule)[] = [
  nothingAfterTheEnd,
  nodesSettleOnce,
  nodesStartWhenRouteIsOpen,
  plansAnswerTheirRequest,
  attemptsStartOnceAndEndOnce,
  outputsAreOfTheirAttempt,
  lateResultsSettleTheirAsk,
  acceptedCallsAreWaitedFor,
  keysStayWhileInDoubt,
  aKeyNamesOneCall,
  nothingInDoubtIsRepeatedUnasked,
  doubtsAreNamedAtTheEnd,
  nothingStartsWhileHeld,
  attemptsEndWhenTheRunMovesOn,
  triesAreCounted,
  budgetsAreKept,
  asksAreAnsweredOnceInTimeAndAsShown,
  labelledNodesHaveAPerson,
  questionsAreAnsweredFirst,
  whatIsDeniedDoesNotHappen,
  reworkFollowsARejection,
  theAnswerIsTheOneThatWasApproved,
  policiesKnowTheirLimits,
  timersFireOnceAndNotEarly,
  timersFireInTheirOrder,
  theAuditIsAChain,
  answersAreWhole,
  iterationsAreWhatTheyYield,
  loopsKeepTheirFacts,
]
