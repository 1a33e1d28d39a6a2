/**
 * Folds events into the state of a run. `fold` is pure for its callers; internally one state is mutated event by event, so
 * that the cost of an event does not grow with the run. Makes no decisions: it only applies what the events record.
 */
import { joined } from '../../base/json.ts'
import type { CompileOptions } from '../../schema/compile/compile.ts'
import { isAboutAnswer } from '../ask.ts'
import { turnTo } from '../attempt/call-key.ts'
import type { Envelope } from '../envelope.ts'
import type { EventPayloads, EventType, JournalEvent, NewEvent } from '../event.ts'
import { feedbackLimits } from '../feedback.ts'
import { applyLoopFact, callsToAsk, findCall } from '../loop/loop-state.ts'
import type { LoopFact } from '../loop-facts.ts'
import type { AttemptResult, Usage } from '../output.ts'
import type { NodeState, RunState } from '../run.ts'
import { installPlan, type KeptStatus, reopenNodes, setStatus, settle } from './fold-graph.ts'
import { beginIteration, beginIterations, endIteration, endIterations } from './fold-iterations.ts'
import { actionAfter, applyReply } from './fold-replies.ts'
import { forgetIterations, rememberDoubt, setAsideOthers, takeUpCall } from './fold-uncertain-calls.ts'

/** The state after all these events, which must begin with `start`. */
export function fold(events: Iterable<JournalEvent>, compileOptions?: CompileOptions): RunState | undefined {
  let state: RunState | undefined
  for (const event of events) {
    if (state === undefined) state = begin(event.runId, event, compileOptions)
    else applyEvent(state, event)
  }
  return state
}

/** The state after the first event of a run. */
export function begin(runId: string, event: NewEvent, compileOptions?: CompileOptions): RunState {
  if (event.type !== 'start')
    throw new Error(`Cannot fold the journal: the first event must be start, got ${event.type}`)
  const {
    envelope,
    correlationId,
    schemaHash,
    tenant = 'default',
    threadId,
    thread,
    draft,
    traceparent,
  } = event.payload
  // Every member at once and without spreads: with members that come and go, V8 keeps an object as a dictionary, and every
  // decision reads this one many times.
  return {
    runId,
    tenant,
    compileOptions,
    seq: 1,
    startedAt: event.at,
    envelope: envelope as Envelope,
    schemaHash,
    correlationId,
    threadId,
    thread,
    draft,
    traceparent,
    plan: undefined,
    planVersion: 0,
    planning: undefined,
    replan: undefined,
    replans: 0,
    nodes: new Map(),
    leftInDoubt: new Map(),
    earlierDoubts: new Map(),
    iterating: new Set(),
    instances: new Map(),
    interrupted: new Map(),
    outgoing: new Map(),
    ready: new Set(),
    running: new Set(),
    judging: new Set(),
    dead: new Set(),
    fatal: new Set(),
    unsettled: 0,
    asks: new Map(),
    openAsks: new Set(),
    approvedCalls: new Map(),
    grants: thread?.grants && [...thread.grants],
    unanswered: undefined,
    approvals: undefined,
    withdrawn: new Map(),
    withdrawals: { tool: 0, other: 0 },
    feedback: [],
    reworks: new Map(),
    followUps: [],
    timers: new Map(),
    policyFired: new Map(),
    answerJudged: undefined,
    failing: undefined,
    paused: undefined,
    budget: {
      reservedCalls: 0,
      reservedTokens: 0,
      reservedCostUsd: 0,
      calls: 0,
      tokens: 0,
      inputTokens: 0,
      costUsd: 0,
    },
    reserved: new Map(),
    audit: '',
    cancel: undefined,
    finalReply: undefined,
    finished: undefined,
  }
}

/** Takes one more event into the state, which is changed in place. */
export function applyEvent(state: RunState, event: NewEvent): void {
  state.seq++
  const apply = appliers[event.type] as (state: RunState, event: NewEvent) => void
  apply(state, event)
}

type Appliers = { [T in EventType]: (state: RunState, event: NewEvent<T>) => void }

const nothing = () => {}

const appliers: Appliers = {
  start: () => {
    throw new Error('Cannot fold the journal: it has a second start event')
  },
  plan_requested(state, { payload }) {
    const previous = payload.attempt > 1 ? state.planning?.rejected : undefined
    const { attempt, phase, trigger = {}, capabilities = [] } = payload
    const candidates = capabilities.flatMap(({ id, status }) => (status === 'active' ? [id] : []))
    state.planning = { attempt, phase, trigger, candidates, ...(previous && { previous }) }
    state.replan = undefined
  },
  plan_rejected(state, { payload }) {
    charge(state, payload.usage)
    if (!state.planning) return
    state.planning.rejected = payload.diagnostics
    if (payload.final !== undefined) state.planning.final = payload.final
  },
  plan_generated(state, { payload }) {
    if (payload.metadata.resumed) {
      state.paused = undefined
      for (const node of state.nodes.values()) node.lostLeases = undefined
      return
    }
    charge(state, payload.usage)
    if (state.planning?.phase === 'replan') state.replans++
    if (payload.plan) installPlan(state, payload.plan, getKeptNodes(payload))
    state.planning = undefined
  },
  plan_updated: nothing,
  node_start(state, event) {
    const node = getNode(state, event)
    node.started = true
    node.startedAt = event.at
    if (event.payload.iterations !== undefined) beginIterations(state, node, event.payload.iterations)
  },
  iteration_start: (state, { payload }) => beginIteration(state, payload),
  iteration_end: (state, { payload }) => endIteration(state, payload),
  attempt_start(state, event) {
    const node = getNode(state, event)
    const { payload, at } = event
    if (payload.continues) takeUpCall(state, node, payload.continues)
    setAsideOthers(state, node, payload)
    node.attempts = payload.attempt
    const { attempt, capabilityId, idempotencyKey, idempotent, sideEffect, inputs, deadlineAt } = payload
    const started = { attempt, capabilityId, idempotencyKey, idempotent, inputs, startedAt: at }
    if (sideEffect || deadlineAt !== undefined)
      Object.assign(started, sideEffect && { sideEffect }, deadlineAt !== undefined && { deadlineAt })
    node.attempt = started
    setStatus(state, node, 'running')
  },
  attempt_accepted(state, event) {
    const node = getNode(state, event)
    const { attempt, agent, deadlineAt } = event.payload
    if (node.attempt?.attempt !== attempt || node.status !== 'running') return
    node.attempt = { ...node.attempt, accepted: { agent, deadlineAt } }
  },
  turn_start: foldLoopFact,
  turn_end: foldLoopFact,
  tool_start: foldLoopFact,
  tool_end: foldLoopFact,
  attempt_end(state, event) {
    const node = getNode(state, event)
    if (node.attempt?.attempt !== event.payload.attempt || node.status !== 'running') return
    const { usage, outcome, interrupted } = event.payload
    node.attempt = joined(node.attempt, { result: event.payload, endedAt: event.at })
    const tokens = (usage.inputTokens ?? 0) + (usage.outputTokens ?? 0)
    // The run pays for all that an attempt without an end may have used; the limits of its node do not, lest a crash use them up.
    const unknown = outcome === 'outcome_unknown'
    node.tokens += unknown ? 0 : tokens
    node.costUsd += unknown ? 0 : (usage.costUsd ?? 0)
    // Attempts that the run itself interrupted do not count: pausing often must not use up the node's retries.
    if (!interrupted) countOutcome(node, event.payload)
    if (!unknown) node.lostLeases = undefined
    if (node.loop && isJudged.has(outcome)) node.loop.judged = node.loop.turns.length
    const { attempt } = event.payload
    rememberDoubt(node, event.payload, { nodeId: node.node.id, attempt, planVersion: state.planVersion })
    charge(state, usage)
    // What the next plan does with a node in doubt is decided when it comes: nothing is asked about the old one.
    setStatus(state, node, unknown && state.replan ? 'waiting' : 'judging')
  },
  attempt_settled(state, event) {
    const node = getNode(state, event)
    const call = node.unsure
    if (call?.attempt !== event.payload.attempt || node.status !== 'awaiting_hitl') return
    const { nodeId: _, planVersion: __, outcome: ___, ...attempt } = call
    node.attempt = joined(attempt, { result: event.payload, endedAt: event.at })
    countOutcome(node, event.payload)
    node.unsure = undefined
    // Where nothing was applied, the call is made again under the key that it had.
    if (!event.payload.notApplied) rememberDoubt(node, event.payload, call)
    setStatus(state, node, 'judging')
  },
  budget_reserved(state, { payload, nodeId }) {
    state.budget.reservedCalls += payload.calls
    state.budget.reservedTokens += payload.tokens
    state.budget.reservedCostUsd += payload.costUsd ?? 0
    const { attempt: _, ...held } = payload
    state.reserved.set(nodeId ?? '', held)
  },
  budget_settled(state, { nodeId }) {
    const held = state.reserved.get(nodeId ?? '')
    if (!held) return
    state.budget.reservedCalls -= held.calls
    state.budget.reservedTokens -= held.tokens
    state.budget.reservedCostUsd -= held.costUsd ?? 0
    state.reserved.delete(nodeId ?? '')
  },
  rao_decision: nothing,
  node_complete(state, event) {
    const node = getNode(state, event)
    node.output = event.payload.output
    node.completed = event.payload
    if (node.iterations) endIterations(state, node)
    settle(state, node, 'completed')
  },
  node_error(state, event) {
    const node = getNode(state, event)
    node.failed = event.payload
    if (node.iterations) endIterations(state, node)
    settle(state, node, 'error')
  },
  node_skipped(state, event) {
    const node = getNode(state, event)
    node.skipped = event.payload
    settle(state, node, 'skipped')
  },
  /** An answer that passed the checks of its attempt and was rejected later counts as a failure. */
  validation_error(state, { nodeId }) {
    const node = nodeId === undefined ? undefined : state.nodes.get(nodeId)
    if (node?.status !== 'judging' || node.attempt?.result?.outcome !== 'ok') return
    node.failures++
  },
  policy_triggered(state, { payload, nodeId, planVersion }) {
    const { policyId, actionDetails, requestId, trigger } = payload
    // What follows from a person's reply is the same act of the policy that asked.
    if (trigger !== 'follow_up') state.policyFired.set(policyId, (state.policyFired.get(policyId) ?? 0) + 1)
    if ((trigger === 'onMetricBelow' || trigger === 'onValidationFail') && nodeId === undefined)
      state.answerJudged = planVersion
    const followed = state.followUps.find((next) => next.requestId === requestId)
    if (requestId !== undefined)
      state.followUps = state.followUps.filter((next) => next.requestId !== requestId)
    switch (actionDetails.type) {
      case 'replan':
        state.replan = {
          policyId,
          ...(actionDetails.rationale !== undefined && { rationale: actionDetails.rationale }),
          ...(nodeId === undefined ? failedProducers(state) : { nodeId }),
          ...(followed?.decision === 'approve' && { approved: true }),
        }
        return
      case 'fail':
        state.failing ??= {
          code: 'policy/fail',
          message: actionDetails.message ?? `Policy "${policyId}" ended the run`,
          details: { policyId },
        }
        return
      case 'pause':
        state.paused = { reason: actionDetails.reason ?? `Policy "${policyId}" paused the run`, policyId }
        return
      default:
        return
    }
  },
  hitl_request(state, event) {
    const { audit, continues, ...ask } = event.payload
    state.audit = audit.hash
    state.asks.set(ask.requestId, ask)
    state.openAsks.add(ask.requestId)
    if (ask.kind === 'policy' || isAboutAnswer(ask)) return
    const node = getNode(state, event)
    node.reply = undefined
    if (continues) takeUpCall(state, node, continues)
    const call = ask.toolCall && findCall(node.loop, ask.toolCall)
    if (call) call.requestId = ask.requestId
    // The other calls of an agent are asked about first.
    const isMore = node.loop !== undefined && call !== undefined && callsToAsk(node.loop).length > 0
    setStatus(state, node, isMore ? 'judging' : 'awaiting_hitl')
  },
  hitl_approval(state, { payload: { requestId, by, audit } }) {
    state.audit = audit.hash
    state.approvals ??= new Map()
    state.approvals.set(requestId, [...(state.approvals.get(requestId) ?? []), by])
  },
  hitl_assigned(state, { payload: { requestId, assignment, expiresAt, audit } }) {
    state.audit = audit.hash
    const ask = state.asks.get(requestId)
    if (ask) state.asks.set(requestId, { ...ask, assignment, expiresAt })
    // The timer of an ask follows its expiry; one that has just fired begins again.
    if (state.openAsks.has(requestId))
      state.timers.set(`ask:${requestId}`, { dueAt: expiresAt, purpose: { kind: 'ask', requestId } })
  },
  hitl_resolved(state, { payload }) {
    state.audit = payload.audit.hash
    state.openAsks.delete(payload.requestId)
    if (payload.decision === 'expired' || payload.decision === 'withdrawn') {
      state.unanswered ??= new Set()
      state.unanswered.add(payload.requestId)
    }
    state.timers.delete(`ask:${payload.requestId}`)
    const ask = state.asks.get(payload.requestId)
    if (!ask) return
    if (payload.decision === 'withdrawn') {
      state.withdrawals[ask.kind === 'tool' ? 'tool' : 'other']++
      if (ask.nodeId !== undefined) state.withdrawn.set(ask.nodeId, ask.kind)
    }
    applyReply(state, {
      kind: ask.kind,
      requestId: payload.requestId,
      decision: payload.decision,
      ...(payload.value !== undefined && { value: payload.value }),
      by: payload.by,
      ...(payload.note !== undefined && { note: payload.note }),
      ...(payload.grant && { grant: payload.grant }),
      ...actionAfter(ask, payload),
    })
  },
  feedback_recorded(state, { payload, planVersion }) {
    state.feedback.push({ ...payload, planVersion })
    if (state.feedback.length > feedbackLimits.kept) state.feedback.shift()
  },
  nodes_reopened(state, { payload }) {
    const { requestId, nodes, downstream } = payload
    const ask = state.asks.get(requestId)
    const subject = ask?.nodeId ?? ''
    state.reworks.set(subject, (state.reworks.get(subject) ?? 0) + 1)
    state.followUps = state.followUps.filter((next) => next.requestId !== requestId)
    state.finalReply = undefined
    // The answer to come is another one.
    state.answerJudged = undefined
    const again = new Set([...nodes, ...downstream])
    for (const id of again) {
      const node = state.nodes.get(id)
      if (node) endIterations(state, node)
    }
    // The rejection of a failure that is to be tried again says that it may be done again; what ended well in it is kept.
    if (ask?.kind !== 'failure') forgetIterations(state, again)
    reopenNodes(state, again)
    if (ask?.kind === 'failure') forgetDoubts(state, nodes)
  },
  timer_set(state, { payload }) {
    state.timers.set(payload.timerId, { dueAt: payload.dueAt, purpose: payload.purpose })
    if (payload.purpose.kind !== 'retry') return
    const node = state.nodes.get(payload.purpose.nodeId)
    if (!node) return
    if (node.candidate !== payload.purpose.candidate) {
      node.candidate = payload.purpose.candidate
      node.failures = 0
      const { capabilityId = '', alternates = [] } = node.node
      node.key = turnTo(node.key, [capabilityId, ...alternates][node.candidate] ?? '')
    }
    node.reply = undefined
    setStatus(state, node, 'waiting')
  },
  timer_fired(state, { payload }) {
    const timer = state.timers.get(payload.timerId)
    state.timers.delete(payload.timerId)
    if (timer?.purpose.kind === 'deadline') {
      state.failing ??= { code: 'run/deadline', message: 'The run reached its deadline' }
    }
    if (timer?.purpose.kind !== 'retry') return
    const node = state.nodes.get(timer.purpose.nodeId)
    if (node?.status === 'waiting') setStatus(state, node, 'ready')
  },
  lease_lost(state, event) {
    const node = getNode(state, event)
    node.lostLeases = new Set(node.lostLeases).add(event.payload.attempt)
  },
  quarantined(state, { payload }) {
    state.paused = { reason: payload.reason, isQuarantine: true }
  },
  cancel_requested(state, { payload }) {
    state.cancel ??= payload
  },
  log: nothing,
  complete(state, { payload }) {
    state.finished = payload
    state.timers.clear()
    state.ready.clear()
    state.dead.clear()
  },
}

function forgetDoubts({ nodes }: RunState, nodeIds: readonly string[]): void {
  for (const id of nodeIds) {
    const node = nodes.get(id)
    if (node) node.unsure = undefined
  }
}

/** Returns the nodes that a new plan keeps with their results, as recorded in the journal. */
function getKeptNodes({ nodes = [] }: EventPayloads['plan_generated']): ReadonlyMap<string, KeptStatus> {
  return new Map(
    nodes.flatMap(({ id, status }): [string, KeptStatus][] =>
      status === 'completed' || status === 'awaiting_hitl' ? [[id, status]] : [],
    ),
  )
}

/** Outcomes that say what an answer is worth: the next attempt of an agent asks its model again. */
const isJudged: ReadonlySet<string> = new Set(['ok', 'invalid', 'truncated', 'refused'])

/** A fact of the attempt under way. A loop that gets on is not repeated in vain: unknown outcomes and lost leases count from there. */
function foldLoopFact(
  state: RunState,
  event: NewEvent<'turn_start' | 'turn_end' | 'tool_start' | 'tool_end'>,
): void {
  const node = getNode(state, event)
  if (node.attempt?.attempt !== event.payload.attempt || node.status !== 'running') return
  // The union type cannot express that type and payload belong together.
  const loop = applyLoopFact(node.loop, event as LoopFact, node.attempt.capabilityId)
  if (loop) node.loop = loop
  if (event.type !== 'turn_end' && event.type !== 'tool_end') return
  node.unknowns = 0
  node.lostLeases = undefined
}

function countOutcome(node: NodeState, { outcome }: AttemptResult): void {
  if (outcome === 'outcome_unknown') node.unknowns++
  else if (outcome === 'unclear') node.questions++
  else if (outcome !== 'ok') node.failures++
}

/** Returns the nodes whose outputs violated the contract of the answer under the current plan. */
function failedProducers({ feedback, planVersion }: RunState): { readonly nodeIds?: readonly string[] } {
  const entry = feedback.findLast(({ source }) => source === 'goal')
  return entry?.nodes && entry.planVersion === planVersion ? { nodeIds: entry.nodes } : {}
}

/** Attempts and planners draw from one budget. */
function charge({ budget }: RunState, usage: Usage | undefined): void {
  if (usage === undefined) return
  const { calls, inputTokens = 0, outputTokens = 0, costUsd = 0 } = usage
  budget.calls += calls
  budget.tokens += inputTokens + outputTokens
  budget.inputTokens += inputTokens
  budget.costUsd += costUsd
}

function getNode(state: RunState, event: { readonly nodeId?: string; readonly type: string }): NodeState {
  const node = event.nodeId === undefined ? undefined : state.nodes.get(event.nodeId)
  if (!node) throw new Error(`Cannot fold ${event.type}: the plan has no node "${event.nodeId}"`)
  return node
}
