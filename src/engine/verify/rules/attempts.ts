/** Attempts start once and end once, not while the run is held, are counted, and bring what their node completes with. */
import { canonicalJson } from '../../../base/canonical.ts'
import type { JournalEvent } from '../../../domain/event.ts'
import { isDoomed } from '../../../domain/run/iterations.ts'
import { nodeEndEvents } from './nodes.ts'
import { type Rule, reopenedIn } from './rule.ts'

export function attemptsStartOnceAndEndOnce(): Rule {
  const started = new Set<string>()
  const open = new Map<string, string>()
  return (event, before, report) => {
    const nodeId = event.nodeId ?? ''
    // Items and rounds of a map or loop that runs again count their attempts from one.
    if (event.type === 'nodes_reopened')
      for (const key of started)
        if (reopenedIn(event)(key.split(' ').slice(1, -1).join(' '))) started.delete(key)
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
    } else if (nodeEndEvents.has(event.type) && open.has(nodeId))
      report('settled-open', `"${nodeId}" is settled while an attempt of it is open`)
  }
}

/**
 * A late result counts only for the attempt that an open ask is about, records its result, and closes that ask in the
 * same write; nothing else closes an ask as `settled`.
 */
export function lateResultsSettleTheirAsk(): Rule {
  let settled: string | undefined
  return (event, before, report) => {
    const closing = settled
    settled = undefined
    if (event.type === 'hitl_resolved' && event.payload.decision === 'settled') {
      if (closing === undefined || closing !== event.nodeId)
        report('late', `"${event.payload.requestId}" is settled, and no late result says by what`)
      else if (before?.asks.get(event.payload.requestId)?.kind !== 'unknown_outcome')
        report('late', `"${event.payload.requestId}" does not ask about the outcome of an attempt`)
    } else if (closing !== undefined)
      report('late', `"${closing}" has a late result, and the ask about it stays open`)
    if (event.type !== 'attempt_settled') return
    settled = event.nodeId ?? ''
    const { attempt, outcome } = event.payload
    const node = before?.nodes.get(settled)
    if (node?.status !== 'awaiting_hitl' || node.unsure?.attempt !== attempt)
      report('late', `attempt ${attempt} of "${settled}" is settled, and nothing is asked about it`)
    if (outcome === 'outcome_unknown' || outcome === 'cancelled')
      report('late', `attempt ${attempt} of "${settled}" is settled by "${outcome}", which says nothing`)
  }
}

/** An accepted call is waited for until its deadline: only an interrupt makes its outcome unknown. */
export function acceptedCallsAreWaitedFor(): Rule {
  const accepted = new Set<string>()
  return (event, before, report) => {
    const nodeId = event.nodeId ?? ''
    if (event.type === 'attempt_accepted') {
      const node = before?.nodes.get(nodeId)
      if (node?.status !== 'running' || node.attempt?.attempt !== event.payload.attempt)
        report('accepted', `attempt ${event.payload.attempt} of "${nodeId}" is accepted, and does not run`)
      if (accepted.has(nodeId)) report('accepted', `the attempt of "${nodeId}" was accepted before`)
      accepted.add(nodeId)
    }
    if (event.type !== 'attempt_end' || !accepted.delete(nodeId)) return
    if (event.payload.outcome === 'outcome_unknown' && !event.payload.interrupted)
      report('accepted', `"${nodeId}" was accepted, and its answer was not waited for`)
  }
}

/** What a node completes with is what its last attempt brought, unless a person gave it, the engine decided a route, or it runs a body. */
export function outputsAreOfTheirAttempt(): Rule {
  const brought = new Map<string, JournalEvent<'attempt_end' | 'attempt_settled'>>()
  return (event, before, report) => {
    const nodeId = event.nodeId ?? ''
    if (event.type === 'attempt_end' || event.type === 'attempt_settled') brought.set(nodeId, event)
    if (event.type !== 'node_complete' || event.payload.person !== undefined || event.payload.chosen) return
    // What a map or a loop completes with has a rule of its own.
    if (before?.nodes.get(nodeId)?.node.body) return
    const end = brought.get(nodeId)?.payload
    if (end?.outcome !== 'ok' || end.attempt !== event.payload.attempt)
      return report('foreign-output', `"${nodeId}" completes, and its last attempt did not end well`)
    if (canonicalJson(end.output?.value ?? null) !== canonicalJson(event.payload.output.value))
      report('foreign-output', `"${nodeId}" completes with something else than its attempt brought`)
  }
}

/** A capability is tried as often as the plan says, and further only when a person asked for it. */
export function triesAreCounted(): Rule {
  const tries = new Map<string, { readonly capabilityId: string; failed: number; final?: true }>()
  return (event, before, report) => {
    const nodeId = event.nodeId ?? ''
    if (event.type === 'attempt_start') {
      const { capabilityId } = event.payload
      const earlier = tries.get(nodeId)
      if (earlier?.capabilityId !== capabilityId) tries.set(nodeId, { capabilityId, failed: 0 })
      else if (earlier.final) report('tries', `"${nodeId}" is tried again after an attempt that was final`)
      else if (earlier.failed > (before?.nodes.get(nodeId)?.node.retry?.max ?? 0))
        report('tries', `"${nodeId}" is tried again after ${earlier.failed} failures`)
    }
    const present = tries.get(nodeId)
    const isEnd = event.type === 'attempt_end' || event.type === 'attempt_settled'
    if (isEnd && present && countsAsFailure.has(event.payload.outcome)) present.failed++
    if (isEnd && present && (event.payload.final || triedEnough.has(event.payload.outcome)))
      present.final = true
    // Valid for the attempt, and invalid by a condition.
    const result = before?.nodes.get(nodeId)?.attempt?.result
    if (event.type === 'validation_error' && present && result?.outcome === 'ok') present.failed++
    // Allowing a change of the world, or answering a question, is no wish for more tries.
    if (event.type === 'hitl_resolved' && event.payload.decision !== 'settled') {
      const kind = before?.asks.get(event.payload.requestId)?.kind
      if (kind !== 'side_effect' && kind !== 'clarify' && kind !== 'tool') tries.delete(nodeId)
    }
    if (event.type === 'plan_updated') tries.clear()
    if (event.type === 'nodes_reopened')
      for (const id of [...tries.keys()].filter(reopenedIn(event))) tries.delete(id)
  }
}

/** Ends after the pauses and tries that one attempt has: the same capability is not called again. */
const triedEnough: ReadonlySet<string> = new Set(['throttled', 'unavailable'])

const countsAsFailure: ReadonlySet<string> = new Set([
  'invalid',
  'truncated',
  'refused',
  'timed_out',
  'provider_error',
])

// Nothing starts while a run is held, and nothing happens after its end.

export function nothingAfterTheEnd(): Rule {
  let finished = false
  return (event, _before, report) => {
    if (finished) report('after-end', `${event.type} after complete`)
    if (event.type === 'complete') finished = true
  }
}

/**
 * An action that moves the run on interrupts its running attempts, the failure of an item or a round those inside it, and nothing else does; a new plan is asked for once none
 * is left.
 */
export function attemptsEndWhenTheRunMovesOn(): Rule {
  const open = new Set<string>()
  const asked = new Set<string>()
  let moved = false
  /** When an engine let a policy act: what it appends at that time ends the attempts. */
  let actedAt = Number.POSITIVE_INFINITY
  return (event, before, report) => {
    const { type, nodeId = '' } = event
    if (event.at > actedAt && open.size > 0)
      report('interrupt', `"${[...open][0]}" runs on, although a policy has moved the run on`)
    if (event.at > actedAt || type === 'attempt_start') actedAt = Number.POSITIVE_INFINITY
    if (type === 'attempt_start') open.add(nodeId)
    if (type === 'attempt_end') {
      open.delete(nodeId)
      const node = before?.nodes.get(nodeId)
      const isOver = before !== undefined && node !== undefined && isDoomed(before, node)
      const reason = moved || asked.size > 0 || (before?.fatal.size ?? 0) > 0 || isOver
      if (event.payload.interrupted && !reason)
        report('interrupt', `the attempt of "${nodeId}" is interrupted, and the run did not move on`)
      if (event.payload.interrupted && event.payload.outcome !== 'outcome_unknown')
        report('interrupt', `the attempt of "${nodeId}" is interrupted, and ends as ${event.payload.outcome}`)
    }
    if (type === 'plan_requested' && open.size > 0)
      report('interrupt', `a plan is asked for while "${[...open][0]}" runs`)
    if (type === 'plan_generated') moved = false
    if (type === 'policy_triggered') {
      const action = event.payload.actionDetails.type
      moved ||= action === 'replan' || action === 'pause' || action === 'fail'
      if (action !== 'emit' && event.payload.trigger !== 'manual') actedAt = event.at
    }
    if (type === 'cancel_requested' || type === 'quarantined') moved = true
    if (type === 'timer_fired')
      moved ||= before?.timers.get(event.payload.timerId)?.purpose.kind === 'deadline'
    if (type === 'hitl_request' && isOfPolicy(event.payload)) asked.add(event.payload.requestId)
    if (type === 'hitl_resolved') {
      const { requestId, decision, rejectAction } = event.payload
      asked.delete(requestId)
      const after = rejectAction ?? before?.asks.get(requestId)?.rejectAction?.type
      moved ||= decision === 'reject' && after === 'replan'
    }
  }
}

/** A policy asks about the run (`policy`) or about what failed (`failure`): both hold the run. */
function isOfPolicy({ kind, policyId }: { readonly kind: string; readonly policyId?: string }): boolean {
  return kind === 'policy' || policyId !== undefined
}

export function nothingStartsWhileHeld(): Rule {
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
      case 'quarantined':
        paused = true
        return
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
        if (isOfPolicy(event.payload) || event.payload.kind === 'final') holding.add(event.payload.requestId)
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
