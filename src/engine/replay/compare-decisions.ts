/** What of a fact was decided, for comparing it with another decision; times, wording and hashes of the audit follow from it. */
import { canonicalJson } from '../../base/canonical.ts'
import type { Json } from '../../base/json.ts'
import type { EventType, NewEvent } from '../../domain/event.ts'

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
export function sameDecision(one: readonly NewEvent[], other: readonly NewEvent[]): boolean {
  return one.length === other.length && one.every((event, at) => essence(event) === essence(other[at]!))
}

function essence(event: NewEvent): string {
  const of = essences[event.type] as ((event: NewEvent) => readonly unknown[]) | undefined
  return canonicalJson([event.type, event.nodeId ?? null, ...(of?.(event) ?? [])] as Json)
}

/** Both lists in lines for people; lines that would read alike although they differ say more. */
export function describeBoth(
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
