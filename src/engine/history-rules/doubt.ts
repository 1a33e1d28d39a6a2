/** What may have taken effect is repeated under its key, and only where it may be. */
import type { JournalEvent } from '../../domain/event.ts'
import { reopenedIn } from './reopened.ts'
import type { Rule } from './rule.ts'

/** A call whose outcome is in doubt is repeated under its key, whatever plans came between, and no two nodes share one. */
export function keysStayWhileInDoubt(): Rule {
  const called = new Map<string, JournalEvent<'attempt_start'>['payload']>()
  const inDoubt = new Map<string, string>()
  const owner = new Map<string, string>()
  const ended = new Map<string, { readonly outcome: string; readonly capabilityId: string }>()
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
    // What was rejected is made by a new call: the one before has ended well.
    if (event.type === 'nodes_reopened')
      for (const id of [...ended.keys()].filter(reopenedIn(event))) {
        const last = ended.get(id)
        if (last?.outcome === 'ok') inDoubt.delete(`${id} ${last.capabilityId}`)
      }
    const call = called.get(nodeId)
    if ((event.type !== 'attempt_end' && event.type !== 'attempt_settled') || !call) return
    ended.set(nodeId, { outcome: event.payload.outcome, capabilityId: call.capabilityId })
    const { outcome, notApplied } = event.payload
    if (answered.has(outcome) && !call.sideEffect) inDoubt.delete(`${nodeId} ${call.capabilityId}`)
    else if (!notApplied && outcome !== 'throttled')
      inDoubt.set(`${nodeId} ${call.capabilityId}`, call.idempotencyKey)
  }
}

const answered: ReadonlySet<string> = new Set(['ok', 'invalid', 'truncated', 'refused'])

/** After a crash, what was not declared safe to repeat waits for a person; what changes the world does so under every plan. */
export function nothingInDoubtIsRepeatedUnasked(): Rule {
  const calls = new Map<string, JournalEvent<'attempt_start'>['payload']>()
  const waits = new Set<string>()
  return (event, before, report) => {
    const nodeId = event.nodeId ?? ''
    if (event.type === 'attempt_start') {
      if (waits.has(nodeId)) report('repeated-unasked', `"${nodeId}" is called again, and nobody said so`)
      calls.set(nodeId, event.payload)
    }
    if (event.type === 'attempt_end' && event.payload.outcome === 'outcome_unknown')
      if (!event.payload.notApplied && calls.get(nodeId)?.idempotent === false) waits.add(nodeId)
    // A late result says what was done.
    if (event.type === 'attempt_settled') waits.delete(nodeId)
    if (event.type === 'hitl_resolved' && event.payload.decision === 'approve')
      if (before?.asks.get(event.payload.requestId)?.kind !== 'side_effect') waits.delete(nodeId)
    if (event.type === 'nodes_reopened' && before?.asks.get(event.payload.requestId)?.kind === 'failure')
      for (const id of event.payload.nodes) waits.delete(id)
    if (event.type === 'plan_updated')
      for (const id of waits) if (!calls.get(id)?.sideEffect) waits.delete(id)
  }
}
