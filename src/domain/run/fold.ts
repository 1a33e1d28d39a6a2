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
import type { AttemptResult, Usage } from '../output.ts'
import type { NodeState, RunState } from '../run.ts'
import { installPlan, type KeptStatus, reopenNodes, setStatus, settle } from './fold-graph.ts'
import { beginIteration, beginIterations, endIteration, endIterations } from './fold-iterations.ts'
import { actionAfter, applyReply } from './fold-replies.ts'
import { rememberDoubt, setAsideOthers, takeUpCall } from './fold-uncertain-calls.ts'

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
    draft,
    traceparent,
  } = event.payload
  return {
    runId,
    tenant,
    ...(compileOptions && { compileOptions }),
    seq: 1,
    startedAt: event.at,
    envelope: envelope as Envelope,
    schemaHash,
    correlationId,
    ...(threadId !== undefined && { threadId }),
    ...(draft !== undefined && { draft }),
    ...(traceparent !== undefined && { traceparent }),
    planVersion: 0,
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
    withdrawn: new Map(),
    withdrawals: 0,
    feedback: [],
    reworks: new Map(),
    followUps: [],
    timers: new Map(),
    policyFired: new Map(),
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
    const { attempt, phase, trigger = {} } = payload
    state.planning = { attempt, phase, trigger, ...(previous && { previous }) }
    delete state.replan
  },
  plan_rejected(state, { payload }) {
    charge(state, payload.usage)
    if (!state.planning) return
    state.planning.rejected = payload.diagnostics
    if (payload.final !== undefined) state.planning.final = payload.final
  },
  plan_generated(state, { payload }) {
    if (payload.metadata.resumed) {
      delete state.paused
      for (const node of state.nodes.values()) delete node.lostLeases
      return
    }
    charge(state, payload.usage)
    if (state.planning?.phase === 'replan') state.replans++
    if (payload.plan) installPlan(state, payload.plan, getKeptNodes(payload))
    delete state.planning
  },
  plan_updated: nothing,
  node_start(state, event) {
    const node = nodeOf(state, event)
    node.started = true
    node.startedAt = event.at
    if (event.payload.iterations !== undefined) beginIterations(state, node, event.payload.iterations)
  },
  iteration_start: (state, { payload }) => beginIteration(state, payload),
  iteration_end: (state, { payload }) => endIteration(state, payload),
  attempt_start(state, event) {
    const node = nodeOf(state, event)
    const { payload, at } = event
    if (payload.continues) takeUpCall(state, node, payload.continues)
    setAsideOthers(state, node, payload)
    node.attempts = payload.attempt
    node.attempt = {
      attempt: payload.attempt,
      capabilityId: payload.capabilityId,
      idempotencyKey: payload.idempotencyKey,
      idempotent: payload.idempotent,
      ...(payload.sideEffect && { sideEffect: payload.sideEffect }),
      inputs: payload.inputs,
      startedAt: at,
      ...(payload.deadlineAt !== undefined && { deadlineAt: payload.deadlineAt }),
    }
    setStatus(state, node, 'running')
  },
  attempt_accepted(state, event) {
    const node = nodeOf(state, event)
    const { attempt, agent, deadlineAt } = event.payload
    if (node.attempt?.attempt !== attempt || node.status !== 'running') return
    node.attempt = { ...node.attempt, accepted: { agent, deadlineAt } }
  },
  attempt_end(state, event) {
    const node = nodeOf(state, event)
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
    if (!unknown) delete node.lostLeases
    const { attempt } = event.payload
    rememberDoubt(node, event.payload, { nodeId: node.node.id, attempt, planVersion: state.planVersion })
    charge(state, usage)
    // What the next plan does with a node in doubt is decided when it comes: nothing is asked about the old one.
    setStatus(state, node, unknown && state.replan ? 'waiting' : 'judging')
  },
  attempt_settled(state, event) {
    const node = nodeOf(state, event)
    const call = node.unsure
    if (call?.attempt !== event.payload.attempt || node.status !== 'awaiting_hitl') return
    const { nodeId: _, planVersion: __, outcome: ___, ...attempt } = call
    node.attempt = joined(attempt, { result: event.payload, endedAt: event.at })
    countOutcome(node, event.payload)
    delete node.unsure
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
    const node = nodeOf(state, event)
    node.output = event.payload.output
    node.completed = event.payload
    endIterations(state, node)
    settle(state, node, 'completed')
  },
  node_error(state, event) {
    const node = nodeOf(state, event)
    node.failed = event.payload
    endIterations(state, node)
    settle(state, node, 'error')
  },
  node_skipped(state, event) {
    const node = nodeOf(state, event)
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
    const node = nodeOf(state, event)
    delete node.reply
    if (continues) takeUpCall(state, node, continues)
    setStatus(state, node, 'awaiting_hitl')
  },
  hitl_approval(state, { payload: { requestId, by, audit } }) {
    state.audit = audit.hash
    state.approvals ??= new Map()
    state.approvals.set(requestId, [...(state.approvals.get(requestId) ?? []), by])
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
      state.withdrawals++
      if (ask.nodeId !== undefined) state.withdrawn.set(ask.nodeId, ask.kind)
    }
    applyReply(state, {
      kind: ask.kind,
      requestId: payload.requestId,
      decision: payload.decision,
      ...(payload.value !== undefined && { value: payload.value }),
      by: payload.by,
      ...(payload.note !== undefined && { note: payload.note }),
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
    delete state.finalReply
    // The answer to come is another one.
    delete state.answerJudged
    const again = new Set([...nodes, ...downstream])
    for (const id of again) {
      const node = state.nodes.get(id)
      if (node) endIterations(state, node)
    }
    reopenNodes(state, again)
    // The rejection of a failure that is to be tried again says that it may be done again.
    if (ask?.kind === 'failure') for (const id of nodes) delete state.nodes.get(id)?.unsure
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
    delete node.reply
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
    const node = nodeOf(state, event)
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

/** Returns the nodes that a new plan keeps with their results, as recorded in the journal. */
function getKeptNodes({ nodes = [] }: EventPayloads['plan_generated']): ReadonlyMap<string, KeptStatus> {
  return new Map(
    nodes.flatMap(({ id, status }): [string, KeptStatus][] =>
      status === 'completed' || status === 'awaiting_hitl' ? [[id, status]] : [],
    ),
  )
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

function nodeOf(state: RunState, event: { readonly nodeId?: string; readonly type: string }): NodeState {
  const node = event.nodeId === undefined ? undefined : state.nodes.get(event.nodeId)
  if (!node) throw new Error(`Cannot fold ${event.type}: the plan has no node "${event.nodeId}"`)
  return node
}
