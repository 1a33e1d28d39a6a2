/** One line of the timeline for each event that a person follows; the others are minor. */
import type { RunEvent } from 'proviso/client'
import type { NodeView, TimelineEntry } from './run-state.ts'

// biome-ignore lint/suspicious/noExplicitAny: payloads are typed loosely in the OpenAPI document
type Payload = any
type Describe = (payload: Payload, event: RunEvent) => string

const sentences: { readonly [type in RunEvent['type']]?: Describe } = {
  start: () => 'Run accepted',
  plan_requested: (payload) => (payload.phase === 'replan' ? 'New plan requested' : 'Plan requested'),
  plan_rejected: (_payload, { message }) => `Draft not proved: ${message ?? ''}`,
  plan_generated: (payload) =>
    payload.metadata?.resumed ? 'Run resumed' : `Plan ${payload.planVersion} proved`,
  plan_updated: (payload) =>
    `Plan ${payload.version} replaced plan ${payload.previousVersion}${payload.trigger?.rationale ? `: ${payload.trigger.rationale}` : ''}`,
  node_start: () => 'started',
  attempt_start: (payload) => `attempt ${payload.attempt} of ${payload.capabilityId}`,
  attempt_end: (payload) =>
    payload.outcome === 'ok'
      ? `attempt ${payload.attempt} answered`
      : `attempt ${payload.attempt} ended: ${payload.outcome}${payload.issues?.[0] ? `, ${payload.issues[0].message}` : ''}`,
  attempt_accepted: (payload) => `accepted by ${payload.agent}, which calls back`,
  turn_end: (payload) =>
    payload.calls.length > 0
      ? `turn ${payload.turn} wants ${payload.calls.map((call: { tool: string }) => call.tool).join(', ')}`
      : `turn ${payload.turn} answered`,
  tool_start: (payload) => `tool ${payload.tool} called`,
  tool_end: (payload) => `tool ${payload.tool}: ${payload.outcome}`,
  rao_decision: (payload) => `confidence decision: ${String(payload.decision).replaceAll('_', ' ')}`,
  node_complete: () => 'completed',
  node_error: (payload) =>
    `${isInterrupted(payload) ? 'cancelled' : 'failed'}: ${payload.error?.message ?? payload.outcome}`,
  node_skipped: (payload) => `skipped: ${payload.reason}`,
  validation_error: (_payload, { message }) => `does not satisfy its contract: ${message ?? ''}`,
  policy_triggered: (payload) => `Policy ${payload.policyId}: ${payload.action}`,
  hitl_request: (payload) => `Asks a person: ${payload.question}`,
  hitl_approval: (payload) => `${payload.by} approved; more approvals are needed`,
  hitl_assigned: (payload) => `Task ${payload.change} by ${payload.by}`,
  hitl_resolved: (payload) =>
    `${payload.by}: ${payload.decision}${payload.note ? `, “${payload.note}”` : ''}`,
  nodes_reopened: (payload) => `Work again: ${payload.nodes.join(', ')}`,
  quarantined: (payload) => `Quarantined: ${payload.reason}`,
  cancel_requested: (payload) => `Cancel requested by ${payload.by}`,
  complete: (payload) =>
    payload.status === 'failed' ? `Failed: ${payload.error?.message ?? ''}` : `Run ${payload.status}`,
}

/** Whether a node has an error only because the run moved on: another node failed, or the run was cancelled. */
export function isInterrupted({ error }: Payload): boolean {
  const issues: readonly { readonly code?: string }[] = error?.details?.issues ?? []
  return issues.some(({ code }) => code === 'attempt/interrupted')
}

/** Events that only matter to a person who searches for a cause. */
const minor: ReadonlySet<RunEvent['type']> = new Set<RunEvent['type']>([
  'plan_requested',
  'node_start',
  'attempt_start',
  'attempt_end',
  'attempt_accepted',
  'turn_end',
  'tool_start',
])

/** Of nodes that a compiler inserted, only failures are not minor. */
export function describeEvent(
  event: RunEvent,
  nodes: ReadonlyMap<string, NodeView>,
): TimelineEntry | undefined {
  const describe = sentences[event.type]
  if (!describe) return undefined
  return {
    id: event.id,
    at: event.timestamp,
    type: event.type,
    ...(event.nodeId !== undefined && { nodeId: event.nodeId }),
    text: describe(event.payload, event),
    minor: isMinor(event, nodes),
  }
}

function isMinor(event: RunEvent, nodes: ReadonlyMap<string, NodeView>): boolean {
  const isInternal = event.nodeId !== undefined && nodes.get(event.nodeId)?.isInternal === true
  if (isInternal) return event.type !== 'node_error'
  return minor.has(event.type) && !isFailedAttempt(event)
}

function isFailedAttempt({ type, payload }: RunEvent): boolean {
  return type === 'attempt_end' && (payload as { outcome?: string }).outcome !== 'ok'
}
