/**
 * The one fold of the console: from the events of a run to what is shown. Live, reload, reconnect and stepping through a
 * finished run use it alike. Events count once and in order, however they are delivered.
 */
import type { RunEvent } from 'proviso/client'
import {
  type AttemptView,
  emptyRun,
  type NodeView,
  type RunState,
  type TurnView,
  type Usage,
} from './run-state.ts'
import { describeEvent, isInterrupted } from './timeline.ts'
import { isInternalNode } from './visible-plan.ts'

// Payloads are typed loosely in the OpenAPI document; each handler reads the members that the event table documents.
// biome-ignore lint/suspicious/noExplicitAny: see above
type Payload = any

/** Folds events up to and including a sequence number. */
export function fold(events: readonly RunEvent[], upTo = Number.POSITIVE_INFINITY): RunState {
  const folder = createFold()
  for (const event of events) if (event.id <= upTo) folder.add(event)
  return folder.state
}

export interface Fold {
  readonly state: RunState
  /** Returns whether the state has changed. Repeated events are ignored; early ones wait for those before them. */
  add(event: RunEvent): boolean
}

export function createFold(runId = ''): Fold {
  const state = emptyRun(runId)
  const early = new Map<number, RunEvent>()
  return {
    state,
    add(event) {
      if (event.id <= state.events) return false
      early.set(event.id, event)
      let changed = false
      for (let next = early.get(state.events + 1); next; next = early.get(state.events + 1)) {
        early.delete(next.id)
        apply(state, next)
        changed = true
      }
      return changed
    },
  }
}

function apply(state: RunState, event: RunEvent): void {
  state.events = event.id
  state.lastAt = event.timestamp
  state.runId = event.runId
  const handle = handlers[event.type]
  handle?.(state, event.payload as Payload, event)
  const entry = describeEvent(event, state.nodes)
  if (entry) state.timeline.push(entry)
}

type Handler = (state: RunState, payload: Payload, event: RunEvent) => void

function nodeOf(state: RunState, { nodeId, planVersion }: RunEvent): NodeView | undefined {
  if (nodeId === undefined) return undefined
  const known = state.nodes.get(nodeId)
  if (known) return known
  const parent = /^(.*?)(?:\[\d+\]|#\d+)/.exec(nodeId)?.[1]
  const node: NodeView = {
    id: nodeId,
    status: 'pending',
    planVersion,
    attempts: [],
    rao: [],
    ...(parent && { parent }),
  }
  state.nodes.set(nodeId, node)
  return node
}

function lastAttempt(node: NodeView | undefined, attempt: number): AttemptView | undefined {
  return node?.attempts.findLast((each) => each.attempt === attempt)
}

function turnOf(node: NodeView | undefined, { attempt, turn, within }: Payload): TurnView | undefined {
  const place = placeOf(within)
  return lastAttempt(node, attempt)?.turns.find((each) => each.turn === turn && each.within === place)
}

/** Names the agent whose turn it is: empty for that of the node, else the tools that lead to it. */
function placeOf(within: Payload[] = []): string {
  return within.map(({ turn, call, tool }) => `${tool} (${turn}.${call})`).join(' > ')
}

function addUsage(a: Usage, b: Usage | undefined): Usage {
  if (!b) return a
  const sum = (one?: number, other?: number) =>
    one === undefined && other === undefined ? undefined : (one ?? 0) + (other ?? 0)
  return {
    calls: a.calls + (b.calls ?? 0),
    inputTokens: sum(a.inputTokens, b.inputTokens),
    outputTokens: sum(a.outputTokens, b.outputTokens),
    costUsd: sum(a.costUsd, b.costUsd),
  }
}

const isOver = (state: RunState) => ['completed', 'failed', 'cancelled'].includes(state.status)

/** A run waits while an ask is open and nothing else is under way. */
function updateStatus(state: RunState): void {
  if (isOver(state) || state.status === 'paused') return
  const isWaiting = [...state.asks.values()].some(({ resolved }) => !resolved)
  state.status = isWaiting ? 'waiting' : 'running'
}

function endAttempt(state: RunState, payload: Payload, event: RunEvent): void {
  const node = nodeOf(state, event)
  const attempt = lastAttempt(node, payload.attempt)
  if (attempt) {
    attempt.endedAt = event.timestamp
    attempt.outcome = payload.outcome
    attempt.output = payload.output
    attempt.raw = payload.output?.raw ?? payload.raw
    attempt.issues = payload.issues ?? []
    attempt.usage = payload.usage
    attempt.model = payload.model
    attempt.prompts = payload.prompts
  }
  if (node) Object.assign(node, { partial: undefined, partialText: undefined })
  state.usage = addUsage(state.usage, payload.usage)
}

const handlers: { readonly [type in RunEvent['type']]?: Handler } = {
  start(state, payload, { timestamp }) {
    state.status = 'running'
    state.startedAt = timestamp
    state.envelope = payload.envelope
    state.objective = payload.envelope?.objective ?? ''
  },
  plan_rejected(state, payload, { timestamp, message }) {
    state.rejected.push({ at: timestamp, diagnostics: payload.diagnostics, message })
    state.usage = addUsage(state.usage, payload.usage)
  },
  plan_generated(state, payload, event) {
    if (state.status === 'paused') {
      state.status = 'running'
      state.pauseReason = undefined
    }
    updateStatus(state)
    state.usage = addUsage(state.usage, payload.usage)
    if (!payload.plan || payload.metadata?.resumed) return
    const { plan, planVersion } = payload
    state.planVersion = planVersion
    state.plans = [
      ...state.plans.filter(({ version }) => version !== planVersion),
      {
        version: planVersion,
        at: event.timestamp,
        nodes: plan.nodes,
        edges: plan.edges,
        output: plan.output,
        diagnostics: payload.diagnostics ?? plan.diagnostics,
        satisfactionScore: payload.satisfactionScore,
      },
    ]
    for (const { id, kind, label, capabilityId } of plan.nodes) {
      const node = nodeOf(state, { ...event, nodeId: id, planVersion })
      if (!node) continue
      Object.assign(node, { kind, label, capabilityId, planVersion })
      node.isInternal = isInternalNode({ id, kind, capabilityId })
      const summary = payload.nodes?.find((each: Payload) => each.id === id)
      node.status = summary?.status === 'completed' ? 'completed' : 'pending'
    }
  },
  plan_updated(state, payload) {
    state.plans = state.plans.map((plan) =>
      plan.version === payload.version ? { ...plan, trigger: payload.trigger } : plan,
    )
    for (const { id, status } of payload.nodes ?? []) {
      const node = state.nodes.get(id)
      if (node && status === 'completed') node.status = 'completed'
    }
  },
  node_start(state, payload, event) {
    const node = nodeOf(state, event)
    if (!node) return
    node.status = 'running'
    node.startedAt = event.timestamp
    node.endedAt = undefined
    node.message = undefined
    node.kind = payload.kind ?? node.kind
    node.label = payload.label ?? node.label
    node.capabilityId = payload.capabilityId ?? node.capabilityId
    // Nodes in maps and loops are in no list of the plan.
    node.isInternal ??= isInternalNode(node)
  },
  iteration_start(state, _payload, event) {
    const node = nodeOf(state, event)
    if (!node) return
    node.status = 'running'
    node.startedAt = event.timestamp
  },
  iteration_end(state, payload, event) {
    const node = nodeOf(state, event)
    if (!node) return
    node.status = payload.status === 'completed' ? 'completed' : 'failed'
    node.endedAt = event.timestamp
    if (payload.output !== undefined) node.output = { value: payload.output }
    node.message = payload.error?.message
  },
  attempt_start(state, payload, event) {
    const node = nodeOf(state, event)
    if (!node) return
    node.status = 'running'
    node.retryAt = undefined
    node.attempts.push({
      attempt: payload.attempt,
      planVersion: event.planVersion,
      capabilityId: payload.capabilityId,
      inputs: payload.inputs,
      startedAt: event.timestamp,
      issues: [],
      turns: [],
    })
  },
  turn_start(state, payload, event) {
    lastAttempt(nodeOf(state, event), payload.attempt)?.turns.push({
      turn: payload.turn,
      within: placeOf(payload.within),
      agent: payload.agent,
      model: payload.model,
      system: payload.system,
      user: payload.user,
      startedAt: event.timestamp,
      texts: [],
      calls: [],
    })
  },
  turn_end(state, payload, event) {
    const turn = turnOf(nodeOf(state, event), payload)
    if (!turn) return
    turn.endedAt = event.timestamp
    turn.usage = payload.usage
    turn.texts = payload.parts
      .filter((part: Payload) => part.type === 'text' || part.type === 'reasoning')
      .map((part: Payload) => part.text)
    turn.calls = payload.calls.map(({ call, tool, verdict, reason, input }: Payload) => ({
      call,
      tool,
      verdict,
      reason,
      input,
    }))
  },
  tool_start(state, payload, event) {
    const call = turnOf(nodeOf(state, event), payload)?.calls.find((each) => each.call === payload.call)
    if (call)
      Object.assign(call, { startedAt: event.timestamp, input: payload.inputs, person: payload.person })
  },
  tool_end(state, payload, event) {
    const call = turnOf(nodeOf(state, event), payload)?.calls.find((each) => each.call === payload.call)
    if (call)
      Object.assign(call, {
        endedAt: event.timestamp,
        outcome: payload.outcome,
        content: payload.content,
        person: payload.person ?? call.person,
      })
  },
  attempt_end: endAttempt,
  attempt_settled: endAttempt,
  rao_decision(state, payload, event) {
    nodeOf(state, event)?.rao.push(payload)
  },
  node_complete(state, payload, event) {
    const node = nodeOf(state, event)
    if (!node) return
    Object.assign(node, {
      status: 'completed',
      endedAt: event.timestamp,
      output: payload.output,
      person: payload.person,
      chosen: payload.chosen,
      partial: undefined,
      partialText: undefined,
      message: undefined,
    })
  },
  node_error(state, payload, event) {
    const node = nodeOf(state, event)
    if (!node) return
    Object.assign(node, {
      status: isInterrupted(payload) ? 'cancelled' : 'failed',
      endedAt: event.timestamp,
      error: payload.error,
      message: payload.error?.message,
      partial: undefined,
      partialText: undefined,
    })
  },
  node_skipped(state, payload, event) {
    const node = nodeOf(state, event)
    if (node) Object.assign(node, { status: 'skipped', message: payload.reason, endedAt: event.timestamp })
  },
  policy_triggered(state, payload, { timestamp }) {
    const { policyId, action, trigger, actionDetails } = payload
    state.policies.push({ at: timestamp, policyId, action, trigger })
    if (actionDetails?.type === 'pause') {
      state.status = 'paused'
      state.pauseReason = actionDetails.reason ?? `Policy ${policyId} paused the run`
    }
  },
  quarantined(state, payload) {
    state.status = 'paused'
    state.pauseReason = payload.reason
  },
  hitl_request(state, payload, event) {
    state.asks.set(payload.requestId, {
      requestId: payload.requestId,
      kind: payload.kind,
      nodeId: payload.nodeId,
      question: payload.question,
      value: payload.value,
      openedAt: event.timestamp,
      expiresAt: new Date(payload.expiresAt).toISOString(),
    })
    const node = payload.nodeId === undefined ? undefined : state.nodes.get(payload.nodeId)
    if (node) node.status = 'waiting'
    updateStatus(state)
  },
  hitl_resolved(state, payload, event) {
    const ask = state.asks.get(payload.requestId)
    if (ask)
      ask.resolved = {
        decision: payload.decision,
        by: payload.by,
        note: payload.note,
        at: event.timestamp,
      }
    const node = ask?.nodeId === undefined ? undefined : state.nodes.get(ask.nodeId)
    if (node?.status === 'waiting') node.status = 'running'
    updateStatus(state)
  },
  nodes_reopened(state, payload) {
    for (const id of [...payload.nodes, ...payload.downstream]) {
      const node = state.nodes.get(id)
      if (node) node.status = 'pending'
    }
  },
  timer_set(state, payload) {
    const { purpose, dueAt } = payload
    const node = purpose?.kind === 'retry' ? state.nodes.get(purpose.nodeId) : undefined
    if (node) Object.assign(node, { status: 'retrying', retryAt: dueAt })
  },
  complete(state, payload, { timestamp }) {
    state.status = payload.status
    state.endedAt = timestamp
    state.output = payload.output
    state.error = payload.error
    state.provenance = payload.provenance ?? []
    if (payload.usage) state.usage = payload.usage
  },
}
