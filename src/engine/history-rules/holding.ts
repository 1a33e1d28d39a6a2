/** Nothing starts while a run is held, and nothing happens after its end. */
import type { Rule } from './rule.ts'

export function nothingAfterTheEnd(): Rule {
  let finished = false
  return (event, _before, report) => {
    if (finished) report('after-end', `${event.type} after complete`)
    if (event.type === 'complete') finished = true
  }
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
