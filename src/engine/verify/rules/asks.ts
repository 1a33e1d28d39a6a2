/**
 * Asks are answered once, in time and as shown; what is denied does not happen; the audit is a chain; and the stored rows
 * of asks are as the journal says.
 */

import { canonicalJson } from '../../../base/canonical.ts'
import type { Json } from '../../../base/json.ts'
import { identifyPerson, isAboutAnswer } from '../../../domain/ask.ts'
import type { JournalEvent } from '../../../domain/event.ts'
import type { AskRow, Store } from '../../../domain/ports/store.ts'
import { auditLink, grantAction, valueHash } from '../../decide/ask/audit.ts'
import { type Rule, reopenedIn } from './rule.ts'

export function asksAreAnsweredOnceInTimeAndAsShown(): Rule {
  const asks = new Map<string, JournalEvent<'hitl_request'>['payload']>()
  const resolved = new Set<string>()
  const approvals = new Map<string, Set<string>>()
  return (event, _before, report) => {
    if (event.type === 'hitl_request') {
      const { requestId } = event.payload
      if (asks.has(requestId)) report('double-ask', `"${requestId}" was asked before`)
      asks.set(requestId, event.payload)
    }
    if (event.type === 'hitl_approval') {
      const { requestId, by } = event.payload
      const people = approvals.get(requestId) ?? new Set()
      if (resolved.has(requestId)) report('double-reply', `"${requestId}" was resolved before`)
      if (people.has(identifyPerson(by))) report('same-person', `"${by}" approved "${requestId}" before`)
      approvals.set(requestId, people.add(identifyPerson(by)))
    }
    if (event.type === 'hitl_assigned') {
      const { requestId, assignment, expiresAt } = event.payload
      const ask = asks.get(requestId)
      if (resolved.has(requestId)) report('double-reply', `"${requestId}" was resolved before`)
      if (ask?.kind !== 'task') report('assignment', `"${requestId}" is not a task`)
      else asks.set(requestId, { ...ask, assignment, expiresAt })
    }
    if (event.type !== 'hitl_resolved') return
    const { requestId, decision, valueHash: shown } = event.payload
    const ask = asks.get(requestId)
    const people = new Set([...(approvals.get(requestId) ?? []), identifyPerson(event.payload.by)])
    if (decision === 'approve' && people.size < (ask?.approvers ?? 1))
      report('approvers', `"${requestId}" was approved by ${people.size} of ${ask?.approvers} people`)
    if (resolved.has(requestId)) report('double-reply', `"${requestId}" was resolved before`)
    resolved.add(requestId)
    if (!ask) return report('reply', `"${requestId}" was never asked`)
    if (ask.valueHash !== shown) report('ask-hash', `"${requestId}" was answered for another value`)
    if (decision === 'expired' || decision === 'settled' || decision === 'withdrawn') return
    const holder = ask.assignment?.claimedBy
    if (holder !== undefined && identifyPerson(holder) !== identifyPerson(event.payload.by))
      report('holder', `"${requestId}" was answered by "${event.payload.by}", and "${holder}" held it`)
    if (!ask.decisions.includes(decision)) report('reply', `"${requestId}" does not take ${decision}`)
    if (event.at >= ask.expiresAt) report('late-reply', `"${requestId}" had expired`)
  }
}

/** A no, or no answer, stops what was asked for: the node, the answer, or (where nothing else is said) the run. */
export function whatIsDeniedDoesNotHappen(): Rule {
  const asks = new Map<string, JournalEvent<'hitl_request'>['payload']>()
  const denied = new Set<string>()
  const tasks = new Set<string>()
  let deniedAnswer: string | undefined
  let deniedRun: string | undefined
  return (event, _before, report) => {
    const nodeId = event.nodeId ?? ''
    if (event.type === 'hitl_request') {
      asks.set(event.payload.requestId, event.payload)
      if (event.payload.kind === 'task') tasks.add(nodeId)
      // A policy may ask another person after the first.
      if (isAboutAnswer(event.payload)) deniedAnswer = undefined
    }
    if (event.type === 'hitl_resolved') {
      const { decision, requestId } = event.payload
      const ask = asks.get(requestId)
      if (decision !== 'reject' && decision !== 'expired') return
      // Of an agent, the call is denied, and the agent continues.
      if (ask === undefined || ask.toolCall) return
      if (ask.policyId !== undefined && isFinal(ask, event.payload)) deniedRun = requestId
      else if (isAboutAnswer(ask)) deniedAnswer = requestId
      else if (ask.policyId === undefined && ask.nodeId !== undefined) denied.add(ask.nodeId)
    }
    // A task that no one has done passes to the next alternate.
    if (event.type === 'timer_set' && event.payload.purpose.kind === 'retry' && tasks.has(nodeId))
      denied.delete(nodeId)
    if ((event.type === 'attempt_start' || event.type === 'node_complete') && denied.has(nodeId))
      report('denied', `"${nodeId}" continues although it was denied`)
    if (event.type === 'plan_updated') {
      denied.clear()
      deniedAnswer = undefined
    }
    if (event.type === 'nodes_reopened') {
      const reopened = [...event.payload.nodes, ...event.payload.downstream]
      for (const id of denied) if (reopened.some((outer) => isWithin(id, outer))) denied.delete(id)
      if (event.payload.requestId === deniedAnswer) deniedAnswer = undefined
    }
    const no = deniedRun ?? deniedAnswer
    if (event.type === 'complete' && event.payload.status === 'completed' && no !== undefined)
      report('denied', `the run completed, although "${no}" was denied`)
  }
}

/** The node itself, or a node of its items or rounds. */
function isWithin(id: string, outer: string): boolean {
  return id === outer || id.startsWith(`${outer}[`) || id.startsWith(`${outer}#`)
}

/** The end of the run follows: it is said, or nothing else is, or the work to do again was never agreed to. */
function isFinal(
  ask: JournalEvent<'hitl_request'>['payload'],
  reply: JournalEvent<'hitl_resolved'>['payload'],
) {
  const action = reply.rejectAction ?? ask.rejectAction?.type ?? 'fail'
  return action === 'fail' || (action === 'retry' && reply.decision === 'expired')
}

/** Values are made again only after a rejection that says so, and at most three times each. */
export function reworkFollowsARejection(): Rule {
  const asks = new Map<string, JournalEvent<'hitl_request'>['payload']>()
  const open = new Set<string>()
  const rounds = new Map<string, number>()
  return (event, _before, report) => {
    if (event.type === 'hitl_request') asks.set(event.payload.requestId, event.payload)
    if (event.type === 'hitl_resolved') {
      const { requestId, decision, rejectAction } = event.payload
      const ask = asks.get(requestId)
      const action = rejectAction ?? ask?.rejectAction?.type
      if (decision === 'reject' && action === 'retry') open.add(requestId)
      if (rejectAction !== undefined && !ask?.rejectActions?.includes(rejectAction))
        report('reply', `"${requestId}" does not take ${rejectAction} after a rejection`)
    }
    if (event.type !== 'nodes_reopened') return
    const { requestId, nodes, round } = event.payload
    const subject = asks.get(requestId)?.nodeId ?? ''
    const times = (rounds.get(subject) ?? 0) + 1
    rounds.set(subject, times)
    if (!open.delete(requestId)) report('rework', `"${requestId}" was not rejected for a retry`)
    if (times > 3 || round !== times)
      report('rework', `the same value is made again for the ${times}. time (round ${round})`)
    if (nodes.length === 0) report('rework', `"${requestId}" has no producing node to run again`)
  }
}

/** Where the caller wants a person at a node of any kind, it completes by a person's word only. */
export function labelledNodesHaveAPerson(): Rule {
  return (event, before, report) => {
    if (event.type !== 'node_complete' || event.payload.person !== undefined) return
    const labels = before?.envelope.policies.planner.directives?.hitlRequiredFor
    const node = before?.nodes.get(event.nodeId ?? '')?.node
    if (!Array.isArray(labels) || !node) return
    const { id, bodyId, label, kind, capabilityId } = node
    if ([id, bodyId, label, kind, capabilityId].some((name) => name !== undefined && labels.includes(name)))
      report('unapproved', `"${id}" completes, and no person was asked, although hitlRequiredFor names it`)
  }
}

/** Who needs an answer first is not called again before it is there. */
export function questionsAreAnsweredFirst(): Rule {
  const unclear = new Set<string>()
  return (event, before, report) => {
    const nodeId = event.nodeId ?? ''
    if (event.type === 'attempt_end' && event.payload.outcome === 'unclear') unclear.add(nodeId)
    if (event.type === 'hitl_resolved' && event.payload.decision === 'answer')
      if (before?.asks.get(event.payload.requestId)?.kind === 'clarify') unclear.delete(nodeId)
    // Calls of an agent have rules of their own.
    if (event.type === 'hitl_resolved' && before?.asks.get(event.payload.requestId)?.toolCall)
      unclear.delete(nodeId)
    if (event.type === 'plan_updated') unclear.clear()
    // It asks again. What it asked before may have expired with one item of a map, which continued without it.
    if (event.type === 'nodes_reopened')
      for (const id of [...unclear].filter(reopenedIn(event))) unclear.delete(id)
    if (event.type === 'attempt_start' && unclear.has(nodeId))
      report('unanswered', `"${nodeId}" is called again, and what it asked was not answered`)
  }
}

/** Where a person had to say yes to the answer, the run ends with the value that was shown or given, under the same plan. */
export function theAnswerIsTheOneThatWasApproved(): Rule {
  /** The question about the answer of the plan in force. */
  let asked: string | undefined
  let approved: string | undefined
  return (event, before, report) => {
    if (event.type === 'hitl_request' && isAboutAnswer(event.payload)) asked = event.payload.requestId
    if (event.type === 'plan_updated' || event.type === 'nodes_reopened') {
      asked = undefined
      approved = undefined
    }
    if (event.type === 'hitl_resolved' && event.payload.requestId === asked) {
      const { decision, value, valueHash: shown } = event.payload
      if (decision === 'approve') approved = shown
      else approved = givesValue.has(decision) && value !== undefined ? valueHash(value) : undefined
    }
    if (event.type !== 'complete' || event.payload.status !== 'completed') return
    const { askBeforeFinish } = before?.envelope.policies.planner.directives ?? {}
    if (askBeforeFinish !== true && asked === undefined) return
    if (approved !== valueHash(event.payload.output ?? null))
      report('unapproved', 'the run completed with an answer that was not approved')
  }
}

const givesValue: ReadonlySet<string> = new Set(['edit', 'answer'])

export function theAuditIsAChain(): Rule {
  let last = ''
  return (event, _before, report) => {
    if (event.type === 'hitl_approval') {
      const { requestId, by, note: words, valueHash: subjectHash, audit } = event.payload
      const { runId, at } = event
      const link = auditLink(last, { runId, requestId, at, by, what: 'approve', subjectHash, words })
      if (link.hash !== audit.hash) report('audit', `the audit chain is broken at "${requestId}"`)
      last = audit.hash
    }
    if (event.type === 'hitl_assigned') {
      const { requestId, change: what, by, note: words, audit } = event.payload
      const { runId, at } = event
      const { subjectHash } = audit
      const link = auditLink(last, { runId, requestId, at, by, what, subjectHash, words })
      if (link.hash !== audit.hash) report('audit', `the audit chain is broken at "${requestId}"`)
      last = audit.hash
    }
    if (event.type !== 'hitl_request' && event.type !== 'hitl_resolved') return
    const { requestId, audit } = event.payload
    const asked = event.type === 'hitl_request'
    const value = event.payload.value
    const link = auditLink(last, {
      runId: event.runId,
      requestId,
      at: event.at,
      by: asked ? 'system' : event.payload.by,
      what: asked ? 'asked' : event.payload.decision,
      subjectHash: asked || value === undefined ? event.payload.valueHash : valueHash(value),
      words: asked ? event.payload.question : event.payload.note,
      action: asked ? undefined : (event.payload.rejectAction ?? grantAction(event.payload.grant)),
    })
    if (link.prev !== audit.prev || link.hash !== audit.hash || link.subjectHash !== audit.subjectHash)
      report('audit', `the audit chain is broken at "${requestId}"`)
    if (asked && valueHash(event.payload.value) !== event.payload.valueHash)
      report('ask-hash', `"${requestId}" is not bound to what it shows`)
    last = audit.hash
  }
}

type Members = { readonly [name: string]: Json }

/** `report` gets the event that a row belongs to; a row that the journal knows nothing of belongs to the last. */
export function compareAsks(
  events: readonly JournalEvent[],
  asks: readonly AskRow[],
  report: (seq: number, message: string) => void,
): void {
  const rows = new Map(asks.map((row) => [row.requestId, row]))
  for (const [requestId, { seq, row }] of askedIn(events)) {
    const stored = rows.get(requestId)
    rows.delete(requestId)
    if (stored === undefined) report(seq, `the table of asks lacks "${requestId}"`)
    else for (const message of differences(stored, row)) report(seq, message)
  }
  const last = events.at(-1)?.seq ?? 0
  for (const requestId of rows.keys())
    report(last, `the table of asks has "${requestId}", and the journal does not`)
}

/** The rows that follow from the journal, each with the event that last changed it. */
function askedIn(events: readonly JournalEvent[]) {
  const first = events[0]
  const tenant = (first?.type === 'start' && first.payload.tenant) || 'default'
  const asked = new Map<string, { readonly seq: number; readonly row: AskRow }>()
  for (const { runId, seq, at, ...event } of events) {
    if (event.type === 'hitl_request') {
      const { audit: _, continues: __, ...ask } = event.payload
      asked.set(ask.requestId, { seq, row: { ...ask, runId, tenant, status: 'pending', createdAt: at } })
    } else if (event.type === 'hitl_approval') {
      const { requestId, by } = event.payload
      const before = asked.get(requestId)?.row
      if (before === undefined) continue
      asked.set(requestId, { seq, row: { ...before, approvedBy: [...(before.approvedBy ?? []), by] } })
    } else if (event.type === 'hitl_assigned') {
      const { requestId, assignment, expiresAt } = event.payload
      const before = asked.get(requestId)?.row
      if (before !== undefined) asked.set(requestId, { seq, row: { ...before, assignment, expiresAt } })
    } else if (event.type === 'hitl_resolved') {
      const { requestId, decision, by, note } = event.payload
      const before = asked.get(requestId)?.row
      if (before === undefined) continue
      const status = decision === 'reject' || decision === 'expired' ? 'denied' : 'resolved'
      const said = note === undefined ? {} : { note }
      asked.set(requestId, { seq, row: { ...before, status, resolvedAt: at, decision, by, ...said } })
    }
  }
  return asked
}

function* differences(stored: AskRow, expected: AskRow): Generator<string> {
  const { requestId } = expected
  const [shown, asked] = [getMembers(stored), getMembers(expected)]
  for (const name of new Set([...Object.keys(asked), ...Object.keys(shown)]))
    if (canonicalJson(shown[name] ?? null) !== canonicalJson(asked[name] ?? null))
      yield `the table of asks says something else of "${requestId}" (${name})`
}

/** Rows are plain data; members that are undefined are absent. */
function getMembers(row: AskRow): Members {
  return Object.fromEntries(Object.entries(row).filter(([, member]) => member !== undefined)) as Members
}

const pageSize = 200

/** All asks of a run, oldest first. */
export async function loadAsks(store: Pick<Store, 'asks'>, runId: string): Promise<AskRow[]> {
  const rows: AskRow[] = []
  for (;;) {
    const after = rows.at(-1)?.requestId
    const page = await store.asks({ runId, limit: pageSize, ...(after !== undefined && { after }) })
    // Not "a short page": a store may give less at a time than it is asked for.
    if (page.length === 0) return rows
    rows.push(...page)
  }
}
