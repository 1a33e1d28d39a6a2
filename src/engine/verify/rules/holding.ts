/** Nothing starts while a run is held, and nothing happens after its end. */
import { isDoomed } from '../../../domain/run/iterations.ts'
import type { Rule } from './rule.ts'

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
    if (type === 'cancel_requested') moved = true
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
