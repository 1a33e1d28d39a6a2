/**
 * Leases lost while the owner was alive: the process was too busy to renew them, and another one has the run. A call that
 * keeps doing this to every process would be made again and again; after the second time in one attempt and its
 * repetitions, the run is quarantined until an operator resumes or cancels it.
 */
import type { AttemptRef } from '../../domain/attempt/call-key.ts'
import type { RunState } from '../../domain/run.ts'
import { factsFor } from '../events.ts'
import { appendChecked, type Outside } from './replies.ts'

/** Leases that may be lost in one attempt and its repetitions, minus one. */
const mostLost = 1

export function recordLostLease(
  outside: Outside,
  runId: string,
  { owner, calls }: { readonly owner: string; readonly calls: readonly AttemptRef[] },
): Promise<RunState> {
  return appendChecked(outside, runId, { by: owner }, (state, { now }) => {
    if (state.finished) return []
    const make = factsFor(state, now)
    return calls.flatMap(({ nodeId, attempt, planVersion }) => {
      const node = state.nodes.get(nodeId)
      if (node === undefined || planVersion !== state.planVersion || node.lostLeases?.has(attempt)) return []
      // Only a call whose outcome is open may be made again.
      const isOpen = node.status === 'running' || node.attempt?.result?.outcome === 'outcome_unknown'
      if (!isOpen) return []
      const lost = make('lease_lost', { attempt, owner }, { nodeId })
      if ((node.lostLeases?.size ?? 0) < mostLost || state.paused?.isQuarantine) return [lost]
      const reason = `"${nodeId}" has cost ${mostLost + 1} processes their lease: each was too busy to renew it`
      return [lost, make('quarantined', { reason, attempt }, { nodeId })]
    })
  })
}
