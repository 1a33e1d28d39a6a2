/** What a person's reply changes in the state of a run. */
import { jsonType } from '../base/json.ts'
import type { Ask, AskKind } from './ask.ts'
import type { EventPayloads, PlanTrigger } from './event.ts'
import { setStatus } from './fold-graph.ts'
import type { Action } from './policy.ts'
import type { AskReply, NodeState, RunState } from './run.ts'

/** What a reply changes at once; where it leads to an event of its own, `decide` finds it on the node or in `followUps`. */
export function applyReply(state: RunState, reply: AskReply): void {
  const ask = state.asks.get(reply.requestId)
  // What settled it is an event of its own.
  if (!ask || reply.decision === 'settled') return
  const agreed = reply.decision !== 'reject' && reply.decision !== 'expired'
  if (ask.kind === 'final') {
    state.finalReply = reply
    if (reply.action?.type === 'replan') state.replan = rejectedTrigger(ask, reply)
    return
  }
  if (ask.kind === 'policy') {
    const action = agreed ? ask.approveAction : reply.action
    if (action === undefined) return
    state.followUps.push({
      requestId: reply.requestId,
      policyId: ask.policyId ?? '',
      action,
      ...(ask.nodeId !== undefined && { nodeId: ask.nodeId }),
    })
    return
  }
  const node = ask.nodeId === undefined ? undefined : state.nodes.get(ask.nodeId)
  if (node === undefined || node.status !== 'awaiting_hitl') return
  if (agreed && reply.value === undefined && !takesShown.has(ask.kind)) {
    // Who allows a change of the world has not said that it be tried more often, nor that it may be made twice.
    if (ask.kind === 'side_effect') node.approved = true
    else forgive(node)
    setStatus(state, node, 'ready')
  } else if (ask.kind === 'clarify' && reply.decision === 'answer') {
    node.clarifications.push(
      jsonType(reply.value) === 'string' ? String(reply.value) : JSON.stringify(reply.value),
    )
    setStatus(state, node, 'ready')
  } else if (reply.action?.type === 'replan') {
    state.replan = rejectedTrigger(ask, reply)
    setStatus(state, node, 'pending')
  } else {
    node.reply = reply
    setStatus(state, node, 'judging')
  }
}

/** Approval of these takes the value that is shown; of others it lets the node be tried. */
const takesShown: ReadonlySet<AskKind> = new Set(['approval', 'task', 'failure'])

/** What a rejection leads to: what the reply says, else what the ask says, else failure. Silence never orders more work. */
export function rejection(ask: Ask, reply: EventPayloads['hitl_resolved']): { readonly action?: Action } {
  const { decision, rejectAction } = reply
  if (decision !== 'reject' && decision !== 'expired') return {}
  const fail: Action = { type: 'fail', message: refusal(reply) }
  if (rejectAction === 'retry') return { action: { type: 'retry' } }
  if (rejectAction === 'replan') return { action: { type: 'replan', ...said(reply) } }
  const isPolicy = ask.policyId !== undefined && ask.rejectAction?.type !== 'retry'
  if (rejectAction === 'fail' || (decision === 'expired' && !isPolicy)) return { action: fail }
  return { action: ask.rejectAction ?? fail }
}

function said({ note }: { readonly note?: string }): { readonly rationale?: string } {
  return note === undefined ? {} : { rationale: note }
}

function rejectedTrigger({ requestId, nodeId, producers }: Ask, reply: AskReply): PlanTrigger {
  return {
    requestId,
    ...said(reply),
    ...(nodeId !== undefined && { nodeId }),
    ...(producers && { nodeIds: producers }),
  }
}

/** A person wants it done again, whatever became of it before. */
function forgive(node: NodeState): void {
  node.failures = 0
  delete node.unsure
}

export function refusal(reply: Pick<AskReply, 'decision' | 'by' | 'note'>): string {
  if (reply.decision === 'expired') return 'No answer came in time'
  return `${reply.by} said no${reply.note ? `: ${reply.note}` : ''}`
}
