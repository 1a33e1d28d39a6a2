/**
 * What must hold of every event of a history, one rule each. A rule looks at the event, at the state before it, and at what
 * it has noted itself; it does not ask the code that decided, so that a mistake there is not repeated here.
 */
import { canonicalJson } from '../base/canonical.ts'
import type { JournalEvent } from '../domain/event.ts'
import type { Usage } from '../domain/output.ts'
import type { Plan } from '../domain/plan.ts'
import type { RunState } from '../domain/run.ts'
import { auditLink, valueHash } from './audit.ts'

export type Report = (rule: string, message: string) => void

/** Called for each event in order, before it is folded in. */
export type Rule = (event: JournalEvent, before: RunState | undefined, report: Report) => void

/** Fresh rules for one history: each keeps its own notes. */
export function createRules(): readonly Rule[] {
  return makers.map((make) => make())
}

const makers: readonly (() => Rule)[] = [
  nothingAfterTheEnd,
  nodesSettleOnce,
  nodesStartWhenTheWayIsOpen,
  plansAnswerTheirRequest,
  attemptsStartOnceAndEndOnce,
  outputsAreOfTheirAttempt,
  keysStayWhileInDoubt,
  nothingInDoubtIsRepeatedUnasked,
  nothingStartsWhileHeld,
  triesAreCounted,
  budgetsAreKept,
  asksAreAnsweredOnceInTimeAndAsShown,
  whatIsDeniedDoesNotHappen,
  policiesKnowTheirLimits,
  timersFireOnceAndNotEarly,
  theAuditIsAChain,
  answersAreWhole,
]

function nothingAfterTheEnd(): Rule {
  let finished = false
  return (event, _before, report) => {
    if (finished) report('after-end', `${event.type} after complete`)
    if (event.type === 'complete') finished = true
  }
}

const settling: ReadonlySet<string> = new Set(['node_complete', 'node_error', 'node_skipped'])

/** Once under each plan; what a new plan takes over stays settled. */
function nodesSettleOnce(): Rule {
  const settled = new Map<string, { readonly seq: number; readonly type: string }>()
  return (event, _before, report) => {
    const nodeId = event.nodeId ?? ''
    if (settling.has(event.type)) {
      const earlier = settled.get(nodeId)
      if (earlier?.type === 'node_complete' && event.type === 'node_complete')
        report('double-completion', `"${nodeId}" has completed before, at ${earlier.seq}`)
      else if (earlier) report('settled-twice', `"${nodeId}" was settled before, at ${earlier.seq}`)
      settled.set(nodeId, { seq: event.seq, type: event.type })
    }
    if (event.type === 'plan_updated')
      for (const { id, status } of event.payload.nodes) if (status !== 'completed') settled.delete(id)
  }
}

/** All edges to a node are settled and one of them is followed; or there is none. */
function nodesStartWhenTheWayIsOpen(): Rule {
  let plan: Plan | undefined
  let ends = new Map<string, JournalEvent>()
  return (event, _before, report) => {
    if (event.type === 'plan_generated' && event.payload.plan && !event.payload.metadata.resumed) {
      const kept = new Set(event.payload.plan.nodes.map(({ id }) => id))
      plan = event.payload.plan
      ends = new Map([...ends].filter(([id, end]) => kept.has(id) && end.type === 'node_complete'))
    }
    if (settling.has(event.type)) ends.set(event.nodeId ?? '', event)
    if (event.type !== 'node_start' && event.type !== 'node_skipped') return
    const edges = plan?.edges.filter(({ to }) => to === event.nodeId) ?? []
    const open = edges.filter(({ from }) => !ends.has(from))
    const live = edges.filter(({ from, to, when }) => {
      const end = ends.get(from)
      if (end?.type === 'node_error') return when !== 'pass'
      if (end?.type !== 'node_complete' || when === 'fail') return false
      return end.payload.chosen === undefined || end.payload.chosen.includes(to)
    })
    if (open.length > 0) report('way', `"${event.nodeId}" is settled or started before "${open[0]?.from}"`)
    if (event.type === 'node_start' && edges.length > 0 && live.length === 0)
      report('way', `"${event.nodeId}" is started, and no edge to it is followed`)
    if (event.type === 'node_skipped' && (edges.length === 0 || live.length > 0))
      report('way', `"${event.nodeId}" is skipped, and the way to it is open`)
  }
}

/** A draft is refused, or becomes the next plan, for the request that is open; each request is answered once. */
function plansAnswerTheirRequest(): Rule {
  let open: number | undefined
  let version = 0
  let over = false
  return (event, _before, report) => {
    if (event.type === 'plan_requested') {
      open = event.payload.attempt
      if (over && open > 1) report('plan', `draft ${open} is asked for, and nobody was to be asked again`)
      over = false
    }
    if (event.type === 'plan_rejected') {
      over = event.payload.final !== undefined
      if (open !== event.payload.attempt)
        report('plan', `draft ${event.payload.attempt} is refused, and ${open ?? 'none'} was asked for`)
      open = undefined
    }
    if (event.type !== 'plan_generated' || event.payload.metadata.resumed) return
    if (open === undefined) report('plan', 'a plan comes that nobody has asked for')
    if (event.payload.planVersion !== version + 1)
      report('plan', `plan ${event.payload.planVersion} comes after plan ${version}`)
    open = undefined
    version = event.payload.planVersion
  }
}

function attemptsStartOnceAndEndOnce(): Rule {
  const started = new Set<string>()
  const open = new Map<string, string>()
  return (event, before, report) => {
    const nodeId = event.nodeId ?? ''
    if (event.type === 'attempt_start') {
      const key = `${event.planVersion} ${nodeId} ${event.payload.attempt}`
      if (started.has(key))
        report('double-start', `attempt ${event.payload.attempt} of "${nodeId}" has started before`)
      if (open.has(nodeId)) report('two-attempts', `"${nodeId}" has an attempt that has not ended`)
      if (before?.nodes.get(nodeId)?.status !== 'ready')
        report(
          'not-ready',
          `an attempt of "${nodeId}" starts while it is ${before?.nodes.get(nodeId)?.status}`,
        )
      started.add(key)
      open.set(nodeId, key)
    } else if (event.type === 'attempt_end') {
      const key = `${event.planVersion} ${nodeId} ${event.payload.attempt}`
      if (open.get(nodeId) !== key)
        report('end-without-start', `attempt ${event.payload.attempt} of "${nodeId}" is not open`)
      open.delete(nodeId)
    } else if (settling.has(event.type) && open.has(nodeId))
      report('settled-open', `"${nodeId}" is settled while an attempt of it is open`)
  }
}

/** What a node completes with is what its last attempt brought, unless a person gave it or the engine decided a route. */
function outputsAreOfTheirAttempt(): Rule {
  const brought = new Map<string, JournalEvent<'attempt_end'>>()
  return (event, _before, report) => {
    const nodeId = event.nodeId ?? ''
    if (event.type === 'attempt_end') brought.set(nodeId, event)
    if (event.type !== 'node_complete' || event.payload.person !== undefined || event.payload.chosen) return
    const end = brought.get(nodeId)?.payload
    if (end?.outcome !== 'ok' || end.attempt !== event.payload.attempt)
      return report('foreign-output', `"${nodeId}" completes, and its last attempt did not end well`)
    if (canonicalJson(end.output?.value ?? null) !== canonicalJson(event.payload.output.value))
      report('foreign-output', `"${nodeId}" completes with something else than its attempt brought`)
  }
}

/** A call whose outcome is in doubt is repeated under its key, and no two nodes share one. */
function keysStayWhileInDoubt(): Rule {
  const called = new Map<string, JournalEvent<'attempt_start'>['payload']>()
  const inDoubt = new Map<string, string>()
  const owner = new Map<string, string>()
  return (event, _before, report) => {
    const nodeId = event.nodeId ?? ''
    if (event.type === 'attempt_start') {
      const { idempotencyKey: key, capabilityId } = event.payload
      if ((inDoubt.get(`${nodeId} ${capabilityId}`) ?? key) !== key)
        report('key', `"${nodeId}" is called under another key, although it may have taken effect`)
      if ((owner.get(key) ?? nodeId) !== nodeId)
        report('key', `"${nodeId}" has the key of "${owner.get(key)}"`)
      owner.set(key, nodeId)
      called.set(nodeId, event.payload)
    }
    // A node that a plan does without is forgotten.
    if (event.type === 'plan_updated') {
      const kept = new Set(event.payload.nodes.map(({ id }) => id))
      for (const call of inDoubt.keys())
        if (!kept.has(call.slice(0, call.lastIndexOf(' ')))) inDoubt.delete(call)
    }
    const call = called.get(nodeId)
    if (event.type !== 'attempt_end' || !call) return
    const { outcome, notApplied } = event.payload
    if (answered.has(outcome)) inDoubt.delete(`${nodeId} ${call.capabilityId}`)
    else if (!notApplied && outcome !== 'throttled')
      inDoubt.set(`${nodeId} ${call.capabilityId}`, call.idempotencyKey)
  }
}

const answered: ReadonlySet<string> = new Set(['ok', 'invalid', 'truncated', 'refused'])

/** After a crash, what was not declared safe to repeat waits for a person. */
function nothingInDoubtIsRepeatedUnasked(): Rule {
  const safe = new Map<string, boolean>()
  const waits = new Set<string>()
  return (event, _before, report) => {
    const nodeId = event.nodeId ?? ''
    if (event.type === 'attempt_start') {
      if (waits.has(nodeId)) report('repeated-unasked', `"${nodeId}" is called again, and nobody said so`)
      safe.set(nodeId, event.payload.idempotent)
    }
    if (event.type === 'attempt_end' && event.payload.outcome === 'outcome_unknown')
      if (!event.payload.notApplied && safe.get(nodeId) === false) waits.add(nodeId)
    if (event.type === 'hitl_resolved' && event.payload.decision === 'approve') waits.delete(nodeId)
    if (event.type === 'plan_updated') waits.clear()
  }
}

function nothingStartsWhileHeld(): Rule {
  const holding = new Set<string>()
  let paused = false
  let ending: string | undefined
  let planning = false
  return (event, _before, report) => {
    switch (event.type) {
      case 'attempt_start': {
        const why = ending ?? (paused ? 'paused' : planning ? 'being planned' : undefined)
        if (why) report('held', `an attempt of "${event.nodeId}" starts while the run is ${why}`)
        if (holding.size > 0) report('held', `an attempt of "${event.nodeId}" starts while a person is asked`)
        return
      }
      case 'policy_triggered': {
        const { type } = event.payload.actionDetails
        if (type === 'pause') paused = true
        if (type === 'fail') ending = 'failing'
        return
      }
      case 'plan_requested':
        planning = true
        return
      case 'plan_generated':
        if (!event.payload.metadata.resumed) planning = false
        else if (!paused) report('resumed', 'the run is resumed, and was not paused')
        else paused = false
        return
      case 'cancel_requested':
        ending = 'cancelled'
        return
      case 'hitl_request':
        if (event.payload.kind === 'policy' || event.payload.kind === 'final')
          holding.add(event.payload.requestId)
        return
      case 'hitl_resolved':
        holding.delete(event.payload.requestId)
        return
      case 'complete':
        if (ending === 'cancelled' && event.payload.status !== 'cancelled')
          report('cancel', `the run was cancelled, and ended as ${event.payload.status}`)
        if (ending === 'failing' && event.payload.status === 'completed')
          report('fail', 'a policy ended the run, and it completed')
        return
      default:
        return
    }
  }
}

/** A capability is tried as often as the plan says, and further only when a person asked for it. */
function triesAreCounted(): Rule {
  const tries = new Map<string, { readonly capabilityId: string; failed: number }>()
  return (event, before, report) => {
    const nodeId = event.nodeId ?? ''
    if (event.type === 'attempt_start') {
      const { capabilityId } = event.payload
      const earlier = tries.get(nodeId)
      if (earlier?.capabilityId !== capabilityId) tries.set(nodeId, { capabilityId, failed: 0 })
      else if (earlier.failed > (before?.nodes.get(nodeId)?.node.retry?.max ?? 0))
        report('tries', `"${nodeId}" is tried again after ${earlier.failed} failures`)
    }
    const present = tries.get(nodeId)
    if (event.type === 'attempt_end' && present && countsAsFailure.has(event.payload.outcome))
      present.failed++
    // Well as far as the attempt could tell, and found wanting by a condition.
    const result = before?.nodes.get(nodeId)?.attempt?.result
    if (event.type === 'validation_error' && present && result?.outcome === 'ok') present.failed++
    if (event.type === 'hitl_resolved') tries.delete(nodeId)
    if (event.type === 'plan_updated') tries.clear()
  }
}

const countsAsFailure: ReadonlySet<string> = new Set([
  'invalid',
  'truncated',
  'refused',
  'timed_out',
  'provider_error',
])

/** What is set aside and what is spent fit into the limits whenever something more is set aside, and it is all given back. */
function budgetsAreKept(): Rule {
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

function asksAreAnsweredOnceInTimeAndAsShown(): Rule {
  const asks = new Map<string, JournalEvent<'hitl_request'>['payload']>()
  const resolved = new Set<string>()
  return (event, _before, report) => {
    if (event.type === 'hitl_request') {
      const { requestId } = event.payload
      if (asks.has(requestId)) report('double-ask', `"${requestId}" was asked before`)
      asks.set(requestId, event.payload)
    }
    if (event.type !== 'hitl_resolved') return
    const { requestId, decision, valueHash: shown } = event.payload
    const ask = asks.get(requestId)
    if (resolved.has(requestId)) report('double-reply', `"${requestId}" was resolved before`)
    resolved.add(requestId)
    if (!ask) return report('reply', `"${requestId}" was never asked`)
    if (ask.valueHash !== shown) report('ask-hash', `"${requestId}" was answered for another value`)
    if (decision === 'expired') return
    if (!ask.decisions.includes(decision)) report('reply', `"${requestId}" does not take ${decision}`)
    if (event.at >= ask.expiresAt) report('late-reply', `"${requestId}" had expired`)
  }
}

/** A no, or no answer, stops what was asked for: the node, the answer, or (where nothing else is said) the run. */
function whatIsDeniedDoesNotHappen(): Rule {
  const asks = new Map<string, JournalEvent<'hitl_request'>['payload']>()
  const denied = new Set<string>()
  let deniedRun: string | undefined
  return (event, _before, report) => {
    const nodeId = event.nodeId ?? ''
    if (event.type === 'hitl_request') asks.set(event.payload.requestId, event.payload)
    if (event.type === 'hitl_resolved') {
      const { decision, requestId } = event.payload
      const ask = asks.get(requestId)
      if (decision !== 'reject' && decision !== 'expired') return
      if (ask?.kind === 'final' || (ask?.kind === 'policy' && !ask.rejectAction)) deniedRun = requestId
      else if (ask?.kind !== 'policy' && ask?.nodeId !== undefined) denied.add(ask.nodeId)
    }
    if ((event.type === 'attempt_start' || event.type === 'node_complete') && denied.has(nodeId))
      report('denied', `"${nodeId}" goes on, although it was denied`)
    if (event.type === 'plan_updated') denied.clear()
    if (event.type === 'complete' && event.payload.status === 'completed' && deniedRun !== undefined)
      report('denied', `the run completed, although "${deniedRun}" was denied`)
  }
}

function policiesKnowTheirLimits(): Rule {
  const fired = new Map<string, number>()
  return (event, before, report) => {
    if (event.type !== 'policy_triggered' || event.payload.trigger === 'follow_up') return
    const { policyId } = event.payload
    const times = (fired.get(policyId) ?? 0) + 1
    fired.set(policyId, times)
    const policy = before?.envelope.policies.runtime.find(({ id }) => id === policyId)
    const most = policy?.maxAttempts ?? (policy?.action.type === 'replan' ? 2 : Number.POSITIVE_INFINITY)
    if (!policy?.enabled) report('policy', `"${policyId}" acted, and is not in force`)
    if (times > most) report('policy', `"${policyId}" acted ${times} times, and may act ${most} times`)
  }
}

function timersFireOnceAndNotEarly(): Rule {
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

function theAuditIsAChain(): Rule {
  let last = ''
  return (event, _before, report) => {
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
    })
    if (link.prev !== audit.prev || link.hash !== audit.hash)
      report('audit', `the audit chain is broken at "${requestId}"`)
    if (asked && valueHash(event.payload.value) !== event.payload.valueHash)
      report('ask-hash', `"${requestId}" is not bound to what it shows`)
    last = audit.hash
  }
}

/** A run completes when each node of its plan is settled. */
function answersAreWhole(): Rule {
  return (event, before, report) => {
    if (event.type !== 'complete' || event.payload.status !== 'completed') return
    for (const [id, { status }] of before?.nodes ?? [])
      if (status !== 'completed' && status !== 'error' && status !== 'skipped')
        report('unsettled', `the run completed while "${id}" is ${status}`)
  }
}
