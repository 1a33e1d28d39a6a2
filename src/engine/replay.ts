/**
 * Deciding a recorded run again, with no call made. The journal is walked once: what came from outside is folded in as it
 * was recorded; wherever the engine decided something, it decides again on the same state and the two are compared, after
 * which the recorded way is followed. With other policies or thresholds the differences say what would have gone another
 * way; without, there must be none.
 */
import type { Json } from '../base/json.ts'
import type { EventType, JournalEvent, NewEvent } from '../domain/event.ts'
import { applyEvent, begin } from '../domain/fold.ts'
import type { PlanNode } from '../domain/plan.ts'
import type { RuntimePolicy } from '../domain/policy.ts'
import type { RunState } from '../domain/run.ts'
import { decide, openingFacts } from './decide.ts'
import type { Moment } from './fact.ts'
import { decideStart } from './starts.ts'

export interface ReplayChanges {
  /** Instead of the envelope's runtime policies. */
  readonly policies?: readonly RuntimePolicy[]
  /** Over the data of nodes, by id: RAO's thresholds and the like. */
  readonly nodeData?: { readonly [nodeId: string]: { readonly [key: string]: Json } }
}

export type ReplayOptions = ReplayChanges & Pick<Moment, 'capability' | 'askMs'>

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

/** What is not decided by the engine alone: it came from outside, or depends on the room that there was. */
const given: ReadonlySet<EventType> = new Set([
  'start',
  'plan_generated',
  'plan_updated',
  'plan_rejected',
  'budget_settled',
  'attempt_end',
  'cancel_requested',
  'budget_reserved',
  'attempt_start',
])

export function replayRun(events: readonly JournalEvent[], options: ReplayOptions): Replayed {
  const [first] = events
  if (!first) return { events: 0, decisions: 0, differences: [] }
  const differences: Difference[] = []
  const state = withPolicies(begin(first.runId, first), options)
  const momentAt = (event: JournalEvent): Moment => ({
    now: event.at,
    askMs: options.askMs,
    capability: options.capability,
    // What was considered then is in the journal; decisions are compared by what they do.
    considered: () => ({ capabilities: [] }),
  })
  const differ = (at: number, recorded: readonly NewEvent[], instead: readonly NewEvent[]) =>
    differences.push({
      after: events[at - 1]?.seq ?? 0,
      recorded: recorded.map(describe),
      instead: instead.map(describe),
    })
  let decisions = 0
  let opened = false
  for (let at = 1; at < events.length; ) {
    const event = events[at]!
    const opening = opened ? [] : openingFacts(state, momentAt(event))
    opened = true
    const expected = opening.length > 0 ? opening : nextFacts(state, momentAt(event))
    const length = isGiven(events, at, state) ? 0 : Math.max(expected.length, 1)
    if (length === 0) {
      // A decision that was due before this event, and was not recorded.
      if (expected.length > 0 && !isGiven(events, at - 1, state)) differ(at, [], expected)
      take(state, event, options)
      at++
      continue
    }
    const recorded = events.slice(at, at + length)
    decisions++
    const same =
      expected.length > 0 && recorded.map(describe).join('\n') === expected.map(describe).join('\n')
    const followed = same ? recorded : untilGiven(events, at, state)
    if (!same) differ(at, followed, expected)
    for (const next of followed) take(state, next, options)
    at += followed.length
  }
  return { events: events.length, decisions, differences }
}

/** The next group of facts, if the engine would make one without any attempt. */
function nextFacts(state: RunState, moment: Moment): readonly NewEvent[] {
  const decision = decide(state, moment)
  if (decision.kind === 'facts') return decision.facts
  if (decision.kind !== 'ready') return []
  for (const nodeId of state.ready) {
    const node = state.nodes.get(nodeId)
    const start = node && decideStart(state, moment, node)
    if (start && start !== 'later' && 'facts' in start) return start.facts
  }
  return []
}

function isGiven(events: readonly JournalEvent[], at: number, state: RunState): boolean {
  const event = events[at]!
  if (given.has(event.type)) return true
  switch (event.type) {
    case 'hitl_resolved':
      return event.payload.decision !== 'expired'
    case 'policy_triggered':
      return event.payload.trigger === 'manual'
    case 'hitl_request':
    case 'timer_set':
      // The rest of a policy that somebody fired by hand.
      return at > 0 && isManual(events, at)
    case 'node_start': {
      const next = events.slice(at + 1, at + 3).find(({ type }) => type === 'attempt_start')
      return next !== undefined && next.nodeId === event.nodeId && state.nodes.has(event.nodeId ?? '')
    }
    case 'log':
      // What an attempt told on its way stands before its end.
      return (
        events.slice(at + 1).find(({ nodeId, type }) => nodeId === event.nodeId && type !== 'log')?.type ===
        'attempt_end'
      )
    default:
      return false
  }
}

function isManual(events: readonly JournalEvent[], at: number): boolean {
  for (let back = at - 1; back >= Math.max(at - 2, 0); back--) {
    const event = events[back]!
    if (event.type === 'policy_triggered') return event.payload.trigger === 'manual'
  }
  return false
}

/** All that was recorded from here until something came from outside. */
function untilGiven(events: readonly JournalEvent[], from: number, state: RunState): readonly JournalEvent[] {
  let to = from + 1
  while (to < events.length && !isGiven(events, to, state)) to++
  return events.slice(from, to)
}

function take(state: RunState, event: JournalEvent, options: ReplayOptions): void {
  applyEvent(state, event)
  if (event.type === 'plan_generated' && event.payload.plan && !event.payload.metadata.resumed)
    withNodeData(state, options)
}

function withPolicies(state: RunState, { policies }: ReplayOptions): RunState {
  if (!policies) return state
  return {
    ...state,
    envelope: { ...state.envelope, policies: { ...state.envelope.policies, runtime: policies } },
  }
}

function withNodeData(state: RunState, { nodeData }: ReplayOptions): void {
  for (const [id, data] of Object.entries(nodeData ?? {})) {
    const found = state.nodes.get(id)
    if (!found) continue
    const node: PlanNode = { ...found.node, data: { ...found.node.data, ...data } }
    state.nodes.set(id, { ...found, node })
  }
}

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
    case 'complete':
      return `${event.type}: ${event.payload.status}`
    case 'log':
      return `${event.type}${where}: ${event.payload.event}`
    default:
      return `${event.type}${where}`
  }
}
