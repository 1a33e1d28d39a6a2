/** What a person's reply changes in the state of a run. */
import { type Ask, type AskKind, isAboutAnswer } from '../ask.ts'
import type { EventPayloads, PlanTrigger } from '../event.ts'
import { findCall, latestCalls } from '../loop/loop-state.ts'
import { toClarification } from '../output.ts'
import type { Action } from '../policy.ts'
import type { AskReply, NodeState, RunState } from '../run.ts'
import { setStatus } from './fold-graph.ts'
import { endIterations } from './fold-iterations.ts'

/** What a reply changes at once; where it leads to an event of its own, `decide` finds it on the node or in `followUps`. */
export function applyReply(state: RunState, reply: AskReply): void {
  const ask = state.asks.get(reply.requestId)
  // What settled it is an event of its own; what is withdrawn is decided by the new plan.
  if (ask?.toolCall && reply.decision === 'withdrawn') reopenCall(state, ask)
  if (!ask || reply.decision === 'settled' || reply.decision === 'withdrawn') return
  const { action } = reply
  const byPolicy = ask.policyId !== undefined
  // A value that failed is made again by its ask, not by the policy.
  if (byPolicy && action && !(ask.kind === 'failure' && action.type === 'retry'))
    orderFollowUp(state, ask, reply)
  if (ask.kind === 'policy') return
  if (isAboutAnswer(ask)) {
    if (!byPolicy || decidesValue(reply)) state.finalReply = reply
    if (!byPolicy && action?.type === 'replan') state.replan = rejectedTrigger(ask, reply)
    return
  }
  applyToNode(state, ask, reply)
}

function orderFollowUp(
  state: RunState,
  { policyId = '', nodeId }: Ask,
  { requestId, action, decision }: AskReply,
): void {
  if (action === undefined) return
  state.followUps.push({ requestId, policyId, action, decision, ...(nodeId !== undefined && { nodeId }) })
}

/** Whether a reply says which value counts, or that it is made again; else a policy's action takes its place. */
export function decidesValue({ decision, action }: AskReply): boolean {
  return action === undefined || action.type === 'retry' || (action.type === 'emit' && decision === 'approve')
}

function applyToNode(state: RunState, ask: Ask, reply: AskReply): void {
  const agreed = reply.decision !== 'reject' && reply.decision !== 'expired'
  const node = ask.nodeId === undefined ? undefined : state.nodes.get(ask.nodeId)
  if (node === undefined || node.status !== 'awaiting_hitl') return
  if (ask.toolCall) {
    decideCall(state, { node, ask, reply })
    return
  }
  if (ask.policyId !== undefined && moves.has(reply.action?.type ?? 'emit')) {
    // Another person is asked, or the run fails or gets a new plan: the node itself has nothing more to do.
    if (reply.action?.type === 'hitl') return
    endIterations(state, node)
    setStatus(state, node, 'pending')
  } else if (agreed && reply.value === undefined && !takesShown.has(ask.kind)) {
    // Who allows a change of the world has not said that it be tried more often, nor that it may be made twice.
    if (ask.kind === 'side_effect') approveCall(state, ask, node)
    else forgive(node)
    setStatus(state, node, 'ready')
  } else if (ask.kind === 'clarify' && reply.decision === 'answer') {
    node.clarifications.push(toClarification(reply.value, ask))
    const { state: asked } = node.attempt?.result?.question ?? {}
    if (asked !== undefined)
      node.elicited = [...(node.elicited ?? []), { state: asked, value: reply.value ?? null }]
    setStatus(state, node, 'ready')
  } else if (reply.action?.type === 'replan') {
    state.replan = rejectedTrigger(ask, reply)
    // Items and rounds of what was rejected do not count under the next plan.
    endIterations(state, node)
    setStatus(state, node, 'pending')
  } else {
    node.reply = reply
    // A value from a person is a full answer, even if items or rounds had a degraded one.
    if (reply.value !== undefined) node.degradedWithin = undefined
    setStatus(state, node, 'judging')
  }
}

/** The next plan asks about the call again, if it still has the agent. */
function reopenCall({ nodes }: RunState, { nodeId = '', toolCall }: Ask): void {
  const call = toolCall && findCall(nodes.get(nodeId)?.loop, toolCall)
  if (call) delete call.requestId
}

/** A decision about a call of an agent, which continues when all are there; without an answer in time it does not. */
function decideCall(
  state: RunState,
  { node, ask, reply }: { readonly node: NodeState; readonly ask: Ask; readonly reply: AskReply },
): void {
  const { decision, value, by, note, grant, requestId } = reply
  const call = ask.toolCall && findCall(node.loop, ask.toolCall)
  if (grant && call?.capabilityId !== undefined) {
    state.grants ??= []
    state.grants.push({
      capabilityId: call.capabilityId,
      causes: call.causes ?? [],
      ...(grant === 'thread' && { scope: grant }),
      requestId,
      by,
    })
  }
  if (call?.requestId === ask.requestId)
    call.decision = {
      decision,
      by,
      ...(value !== undefined && { value }),
      ...(note !== undefined && { note }),
    }
  const calls = node.loop ? latestCalls(node.loop).map(({ call }) => call) : []
  if (calls.some(({ requestId = '' }) => state.openAsks.has(requestId))) return
  const isExpired = calls.some((each) => each.decision?.decision === 'expired')
  if (isExpired) node.reply = { ...reply, decision: 'expired' }
  setStatus(state, node, isExpired ? 'judging' : 'ready')
}

/** Actions of policies after which the node that failed does not continue. */
const moves: ReadonlySet<Action['type']> = new Set(['hitl', 'replan', 'fail'])

/** Approval of these takes the value that is shown; of others it lets the node be tried. */
const takesShown: ReadonlySet<AskKind> = new Set(['approval', 'task', 'failure'])

/**
 * What a reply leads to. After approval: what a policy says. After a rejection: what the reply says, else what the ask says,
 * else failure. Silence never orders more work, and a value that is given ends the matter.
 */
export function actionAfter(ask: Ask, reply: EventPayloads['hitl_resolved']): { readonly action?: Action } {
  const { decision, rejectAction } = reply
  if (decision === 'approve') return ask.approveAction ? { action: ask.approveAction } : {}
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

/** Remembers the call that was approved: the capability that the ask names, with the inputs that it shows. */
function approveCall({ approvedCalls }: RunState, ask: Ask, { node, candidate }: NodeState): void {
  // Earlier journals do not name the capability: it is the one whose turn it was.
  const capabilityId = ask.capabilityId ?? [node.capabilityId, ...(node.alternates ?? [])][candidate] ?? ''
  const before = approvedCalls.get(node.id) ?? []
  approvedCalls.set(node.id, [...before, { capabilityId, inputs: ask.value }])
}

/** Resets failures and doubts: a person requested another attempt. */
function forgive(node: NodeState): void {
  node.failures = 0
  node.unsure = undefined
}

export function refusal(reply: Pick<AskReply, 'decision' | 'by' | 'note'>): string {
  if (reply.decision === 'expired') return 'No answer came in time'
  return `${reply.by} said no${reply.note ? `: ${reply.note}` : ''}`
}
