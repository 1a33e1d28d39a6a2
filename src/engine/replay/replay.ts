/**
 * Deciding a recorded run again, with no call made. The journal is walked once. What came from outside (what attempts and
 * planners brought, replies, cancellations, resumptions, policies fired by hand) and when there was room for an attempt is
 * taken as recorded; wherever the engine decided something, it decides again on the same state at the same context, and
 * the two are compared, after which the recorded way is followed. With other policies or node data the differences say
 * which decisions would have gone another way; without, there must be none.
 */

import { canonicalJson } from '../../base/canonical.ts'
import type { Issue } from '../../base/errors/issue.ts'
import type { Json } from '../../base/json.ts'
import type { EventType, JournalEvent, NewEvent } from '../../domain/event.ts'
import type { PlanNode } from '../../domain/plan.ts'
import { isRaoPolicy, type Policies } from '../../domain/policy.ts'
import { isRaoError, type RaoContract } from '../../domain/rao/rao-contract.ts'
import { readRaoSettings } from '../../domain/rao/settings.ts'
import { applyEvent, begin } from '../../domain/run/fold.ts'
import type { RunState } from '../../domain/run.ts'
import { openingFacts } from '../decide/decide.ts'
import type { DecisionContext } from '../events.ts'
import { decidedHere, findEventSource, overdue } from './decide-recorded.ts'

export interface ReplayChanges {
  /** Instead of the envelope's runtime policies. RAO policies keep the nodes that the plan gave them. */
  readonly policies?: Policies['runtime']
  /** Over the data of nodes, by id: RAO's thresholds and the like. */
  readonly nodeData?: { readonly [nodeId: string]: { readonly [key: string]: Json } }
}

type ReplayOptions = ReplayChanges &
  Pick<DecisionContext, 'capability' | 'askMs'> &
  Pick<RunState, 'compileOptions'>

export interface Difference {
  /** Sequence number of the last event before the engine would have decided otherwise. */
  readonly after: number
  readonly recorded: readonly string[]
  readonly instead: readonly string[]
}

export interface Replayed {
  readonly events: number
  /** How often the engine had something to decide. */
  readonly decisions: number
  readonly differences: readonly Difference[]
}

/** Events that one turn of an engine appended: when it was, and whether it has come to deciding. */
interface Turn {
  readonly at: number
  readonly decided: boolean
}

export function replayRun(events: readonly JournalEvent[], options: ReplayOptions): Replayed {
  const [first] = events
  if (!first) return { events: 0, decisions: 0, differences: [] }
  const differences: Difference[] = []
  // As it was says where each recorded decision ends; as changed says what would have been decided instead.
  const beginRun = () => begin(first.runId, first, options.compileOptions)
  const asWas = beginRun()
  const asChanged = options.policies || options.nodeData ? changed(beginRun(), options) : asWas
  const { askMs } = options
  const capability = knownOrRecorded(events, options.capability)
  // What was considered then is in the journal; decisions are compared by what they do.
  const considerCapabilities = () => ({ recorded: { capabilities: [] } })
  // What the validator of the caller said is taken as recorded.
  const refuseAnswer = () => recordedRefusals(events.slice(at))
  const contextAt = (now: number): DecisionContext => ({
    now,
    askMs,
    capability,
    considerCapabilities,
    refuseAnswer,
  })
  let decisions = 0
  let at = 1
  let turn: Turn | undefined

  const take = (count: number) => {
    for (const event of events.slice(at, at + count)) {
      applyEvent(asWas, event)
      if (asChanged === asWas) continue
      applyEvent(asChanged, event)
      if (event.type === 'plan_generated' && !event.payload.metadata.resumed) changeNodes(asChanged, options)
    }
    at += count
  }
  const differ = (from: number, recorded: readonly NewEvent[], instead: readonly NewEvent[]) =>
    differences.push({ after: events[from - 1]?.seq ?? 0, ...describeBoth(recorded, instead) })
  const isHere = (facts: readonly NewEvent[]) =>
    facts.length > 0 && sameDecision(events.slice(at, at + facts.length), facts)

  /** Holds one decision against the record, and follows the record. */
  const compare = (decideFor: (state: RunState) => readonly NewEvent[]) => {
    decisions++
    const from = at
    const expected = decideFor(asWas)
    const instead = asChanged === asWas ? expected : decideFor(asChanged)
    if (isHere(expected)) take(expected.length)
    // This engine would not have decided so: it continues with the next decision that it would.
    else while (at < events.length && isUnknown(events[at]!)) take(1)
    const recorded = events.slice(from, at)
    if (!sameDecision(recorded, instead)) differ(from, recorded, instead)
    if (options.policies) countActs(asChanged, recorded, instead)
  }
  const isUnknown = (event: JournalEvent) =>
    findEventSource(event, events[at + 1]) === 'decided' &&
    !isHere(decidedHere(asWas, contextAt(event.at), event))

  /** An engine does not leave a turn before everything is decided. */
  const endTurn = () => {
    const due = turn ? overdue(asWas, contextAt(turn.at)) : []
    if (due.length > 0) differ(at, [], due)
    turn = undefined
  }

  const opening = (state: RunState) => openingFacts(state, contextAt(events[1]?.at ?? first.at))
  if (opening(asWas).length > 0 || opening(asChanged).length > 0) compare(opening)
  while (at < events.length) {
    const event = events[at]!
    const source = findEventSource(event, events[at + 1])
    if (turn && (event.at !== turn.at || source === 'outside' || (source === 'brought' && turn.decided)))
      endTurn()
    const from = at
    if (source === 'decided' || event.type === 'policy_triggered')
      compare((state) => decidedHere(state, contextAt(event.at), event))
    if (at === from) take(1)
    turn = source === 'outside' ? undefined : { at: event.at, decided: source === 'decided' }
  }
  endTurn()
  return { events: events.length, decisions, differences }
}

/** Codes of issues that only the validator of another library reports. */
const validatorCodes: ReadonlySet<string> = new Set(['schema/standard', 'schema/threw', 'schema/async'])

/** Returns what the validator had against the answer that is judged next: no other answer is judged before an ask. */
function recordedRefusals(next: readonly JournalEvent[]): readonly Issue[] {
  const judged = next.find(
    ({ type, payload }) =>
      type === 'complete' ||
      type === 'hitl_request' ||
      (type === 'validation_error' && 'scope' in payload && payload.scope === 'output'),
  )
  const issues =
    judged?.type === 'complete'
      ? (judged.payload.error?.issues ?? [])
      : judged?.type === 'validation_error'
        ? judged.payload.errors
        : []
  return issues.filter(({ code }) => validatorCodes.has(code))
}

function changed(state: RunState, { policies }: ReplayOptions): RunState {
  if (!policies) return state
  return {
    ...state,
    envelope: { ...state.envelope, policies: { ...state.envelope.policies, runtime: policies } },
  }
}

/** The plan's nodes with the data and the RAO contracts that are replayed instead. */
function changeNodes(state: RunState, { nodeData = {}, policies }: ReplayOptions): void {
  for (const [id, found] of state.nodes) {
    const data = nodeData[id]
    const guarded = policies ? withPolicies(found.node, policies) : found.node
    const node = data ? { ...guarded, data: { ...guarded.data, ...data } } : guarded
    if (node !== found.node) state.nodes.set(id, { ...found, node })
  }
}

/** Contracts that policies brought, by today's words of the same policies; a policy that is gone brings none. */
function withPolicies(node: PlanNode, policies: Policies['runtime']): PlanNode {
  const contracts = new Map<string, RaoContract>(
    policies.filter(isRaoPolicy).flatMap(({ id, enabled, rao }) => {
      const contract = enabled ? readRaoSettings(rao) : undefined
      return contract === undefined || isRaoError(contract) ? [] : [[`policy:${id}`, contract] as const]
    }),
  )
  const rao = node.rao?.flatMap((each) => {
    if (!each.from.startsWith('policy:')) return [each]
    const contract = contracts.get(each.from)
    return contract ? [{ ...each, contract }] : []
  })
  const { body } = node
  return {
    ...node,
    ...(rao && { rao }),
    ...(body && { body: { ...body, nodes: body.nodes.map((each) => withPolicies(each, policies)) } }),
  }
}

/**
 * Counts how often the replayed policies would have acted, not those on record. Not called where only node data change:
 * the policies are those on record, and so are their acts, since the record is followed after each difference.
 */
function countActs(state: RunState, recorded: readonly NewEvent[], instead: readonly NewEvent[]): void {
  const count = (facts: readonly NewEvent[], by: number) => {
    for (const event of facts) {
      if (event.type !== 'policy_triggered' || event.payload.trigger === 'follow_up') continue
      const { policyId } = event.payload
      state.policyFired.set(policyId, (state.policyFired.get(policyId) ?? 0) + by)
    }
  }
  count(recorded, -1)
  count(instead, 1)
}

/** Of a capability that is not known here, what its first attempt says. */
function knownOrRecorded(
  events: readonly JournalEvent[],
  known: DecisionContext['capability'],
): DecisionContext['capability'] {
  const recorded = new Map<string, ReturnType<DecisionContext['capability']>>()
  for (const event of events) {
    if (event.type !== 'attempt_start' || recorded.has(event.payload.capabilityId)) continue
    const { capabilityId, idempotent, sideEffect = false } = event.payload
    recorded.set(capabilityId, { kind: 'unknown', idempotent, sideEffect, untrusted: true, tokens: 0 })
  }
  return (capabilityId) => known(capabilityId) ?? recorded.get(capabilityId)
}

// What of a fact was decided, for comparing it with another decision; times, wording and hashes of the audit follow from it.

type Essences = { [T in EventType]?: (event: NewEvent<T>) => readonly unknown[] }

/** Types that are not named are decided by being there. */
const essences: Essences = {
  plan_requested: ({ payload }) => [payload.attempt, payload.phase],
  attempt_start: ({ payload, at }) => [
    payload.attempt,
    payload.capabilityId,
    payload.idempotencyKey,
    payload.inputs,
    payload.deadlineAt === undefined ? null : payload.deadlineAt - at,
  ],
  attempt_end: ({ payload }) => [payload.attempt, payload.outcome],
  budget_settled: ({ payload }) => [payload.attempt],
  budget_reserved: ({ payload }) => [payload.attempt, payload.calls, payload.tokens, payload.costUsd ?? null],
  rao_decision: ({ payload }) => [payload.attempt, payload.decision, payload.confidence],
  node_complete: ({ payload }) => [
    payload.attempt,
    payload.output,
    payload.chosen ?? null,
    payload.person ?? null,
  ],
  node_error: ({ payload }) => [payload.attempt, payload.outcome, payload.error.code],
  validation_error: ({ payload }) => [payload.scope],
  policy_triggered: ({ payload }) => [payload.policyId, payload.trigger, payload.actionDetails],
  hitl_request: ({ payload }) => [payload.requestId, payload.kind, payload.valueHash],
  hitl_approval: ({ payload }) => [payload.requestId],
  hitl_assigned: ({ payload }) => [payload.requestId, payload.change],
  hitl_resolved: ({ payload }) => [payload.requestId, payload.decision],
  feedback_recorded: ({ payload }) => [payload.source, payload.nodes ?? null],
  nodes_reopened: ({ payload }) => [payload.requestId, payload.nodes, payload.downstream],
  timer_set: ({ payload, at }) => [
    payload.timerId,
    payload.purpose,
    // How long an ask stays open is a setting of the process that executes the run.
    payload.purpose.kind === 'ask' ? null : payload.dueAt - at,
  ],
  timer_fired: ({ payload }) => [payload.timerId],
  log: ({ payload }) => [payload.event, payload.payload ?? null],
  complete: ({ payload }) => [payload.status, payload.output ?? null, payload.error?.code ?? null],
}

/** Whether both lists say the same was decided, in the same order. */
function sameDecision(one: readonly NewEvent[], other: readonly NewEvent[]): boolean {
  return one.length === other.length && one.every((event, at) => essence(event) === essence(other[at]!))
}

function essence(event: NewEvent): string {
  const of = essences[event.type] as ((event: NewEvent) => readonly unknown[]) | undefined
  return canonicalJson([event.type, event.nodeId ?? null, ...(of?.(event) ?? [])] as Json)
}

/** Both lists in lines for people; lines that would read alike although they differ say more. */
function describeBoth(
  recorded: readonly NewEvent[],
  instead: readonly NewEvent[],
): { readonly recorded: readonly string[]; readonly instead: readonly string[] } {
  const alike = (at: number) => {
    const [one, other] = [recorded[at], instead[at]]
    return one && other && describe(one) === describe(other) && essence(one) !== essence(other)
  }
  const line = (event: NewEvent, at: number) =>
    alike(at) ? `${describe(event)} ${essence(event).slice(0, longestDetail)}` : describe(event)
  return { recorded: recorded.map(line), instead: instead.map(line) }
}

const longestDetail = 300

/** A decision in one line. */
function describe(event: NewEvent): string {
  const where = event.nodeId === undefined ? '' : ` ${event.nodeId}`
  switch (event.type) {
    case 'policy_triggered':
      return `${event.type}${where}: ${event.payload.policyId}, ${event.payload.actionDetails.type}`
    case 'hitl_request':
      return `${event.type}${where}: ${event.payload.kind}`
    case 'node_error':
      return `${event.type}${where}: ${event.payload.outcome}`
    case 'node_complete':
      return event.payload.chosen
        ? `${event.type}${where}: to ${event.payload.chosen.join(', ')}`
        : `${event.type}${where}`
    case 'attempt_start':
      return `${event.type}${where}: ${event.payload.capabilityId}`
    case 'timer_set':
      return `${event.type}${where}: ${event.payload.purpose.kind}`
    case 'complete':
      return `${event.type}: ${event.payload.status}`
    case 'log':
      return `${event.type}${where}: ${event.payload.event}`
    default:
      return `${event.type}${where}`
  }
}
