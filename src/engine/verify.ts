/**
 * The one checker of histories: what must hold of every journal, whatever crashed while it was written. The simulation, the
 * kill tests and `proviso verify` all ask it.
 */
import type { Issue } from '../base/issue.ts'
import type { JournalEvent } from '../domain/event.ts'
import { applyEvent, begin } from '../domain/fold.ts'
import type { AuditRow } from '../domain/ports/store.ts'
import type { RunHead, RunState } from '../domain/run.ts'
import { auditLink, valueHash } from './audit.ts'
import { statusOf } from './head.ts'

/** What a journal is held against, where it is known. */
export interface Beside {
  readonly head?: Pick<RunHead, 'seq' | 'status' | 'planVersion'>
  readonly audit?: readonly AuditRow[]
}

/** Every violation, located by sequence number; empty for a history that is as it should be. */
export function verifyHistory(events: readonly JournalEvent[], beside: Beside = {}): Issue[] {
  const issues: Issue[] = []
  const report = (seq: number, rule: string, message: string) =>
    issues.push({ code: `history/${rule}`, at: { pointer: `/${seq}` }, message: `event ${seq}: ${message}` })
  let state: RunState | undefined
  const seen: Seen = {
    completions: new Map(),
    attempts: new Set(),
    open: new Map(),
    replies: new Set(),
    audit: '',
  }
  for (const [index, event] of events.entries()) {
    if (event.seq !== index + 1) report(event.seq, 'gap', `its place is ${index + 1}`)
    for (const check of checks) check(event, seen, (rule, message) => report(event.seq, rule, message))
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
  return issues
}

interface Seen {
  /** Completions per plan node that are in force; a replan starts anew for nodes that were not carried over. */
  readonly completions: Map<string, number>
  readonly attempts: Set<string>
  readonly open: Map<string, string>
  readonly replies: Set<string>
  audit: string
  finished?: true
}

type Check = (event: JournalEvent, seen: Seen, report: (rule: string, message: string) => void) => void

const checks: readonly Check[] = [
  function nothingAfterTheEnd(event, seen, report) {
    if (seen.finished) report('after-end', `${event.type} after complete`)
    if (event.type === 'complete') seen.finished = true
  },
  function oneCompletionPerNode(event, seen, report) {
    if (event.type !== 'node_complete') return
    const nodeId = event.nodeId ?? ''
    if (seen.completions.has(nodeId))
      report('double-completion', `"${nodeId}" has completed before, at ${seen.completions.get(nodeId)}`)
    seen.completions.set(nodeId, event.seq)
  },
  function newPlansMayRunNodesAgain(event, seen) {
    if (event.type !== 'plan_updated') return
    for (const { id, status } of event.payload.nodes) if (status !== 'completed') seen.completions.delete(id)
  },
  function attemptsStartOnceAndEndOnce(event, seen, report) {
    const nodeId = event.nodeId ?? ''
    if (event.type === 'attempt_start') {
      const key = `${event.planVersion} ${nodeId} ${event.payload.attempt}`
      if (seen.attempts.has(key))
        report('double-start', `attempt ${event.payload.attempt} of "${nodeId}" has started before`)
      if (seen.open.has(nodeId)) report('two-attempts', `"${nodeId}" has an attempt that has not ended`)
      seen.attempts.add(key)
      seen.open.set(nodeId, key)
    } else if (event.type === 'attempt_end') {
      const key = `${event.planVersion} ${nodeId} ${event.payload.attempt}`
      if (seen.open.get(nodeId) !== key)
        report('end-without-start', `attempt ${event.payload.attempt} of "${nodeId}" is not open`)
      seen.open.delete(nodeId)
    }
  },
  function oneReplyPerAsk(event, seen, report) {
    if (event.type !== 'hitl_resolved') return
    if (seen.replies.has(event.payload.requestId))
      report('double-reply', `"${event.payload.requestId}" was resolved before`)
    seen.replies.add(event.payload.requestId)
  },
  function theAuditIsAChain(event, seen, report) {
    if (event.type !== 'hitl_request' && event.type !== 'hitl_resolved') return
    const { requestId, audit } = event.payload
    const asked = event.type === 'hitl_request'
    const value = event.payload.value
    const link = auditLink(seen.audit, {
      runId: event.runId,
      requestId,
      at: event.at,
      by: asked ? 'system' : event.payload.by,
      what: asked ? 'asked' : event.payload.decision,
      subjectHash: asked || value === undefined ? event.payload.valueHash : valueHash(value),
    })
    if (link.prev !== audit.prev || link.hash !== audit.hash)
      report('audit', `the audit chain is broken at "${requestId}"`)
    if (asked && valueHash(event.payload.value) !== event.payload.valueHash)
      report('ask-hash', `"${requestId}" is not bound to what it shows`)
    seen.audit = audit.hash
  },
]

/** What no prefix of a history may show. */
function* stateFaults(state: RunState): Generator<string> {
  const { budget, plan } = state
  const { maxCalls, maxTokens } = plan?.limits ?? {}
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
  { head, audit }: Beside,
  report: (rule: string, message: string) => void,
): void {
  if (head && head.seq !== state.seq)
    report('head', `the head is at ${head.seq}, the journal at ${state.seq}`)
  if (head && head.planVersion !== state.planVersion)
    report('head', `the head has plan version ${head.planVersion}, the journal ${state.planVersion}`)
  if (head && head.status !== statusOf(state))
    report('head', `the head says ${head.status}, the journal ${statusOf(state)}`)
  const last = audit?.at(-1)
  if (audit && (last?.hash ?? '') !== state.audit)
    report('audit', 'the audit table does not end where the journal does')
}
