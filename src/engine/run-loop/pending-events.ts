/** Turns the results of attempts and planning since the last turn into events for the journal. */
import type { Json } from '../../base/json.ts'
import type { AttemptRef } from '../../domain/attempt/call-key.ts'
import type { NewEvent } from '../../domain/event.ts'
import type { AttemptResult } from '../../domain/output.ts'
import type { RunState } from '../../domain/run.ts'
import { charged, settlement } from '../decide/budget.ts'
import { factsFor } from '../events.ts'
import type { PlanningResult } from './planning.ts'

export interface Ended extends AttemptRef {
  readonly result: AttemptResult
  readonly logs: readonly { event: string; payload?: { readonly [key: string]: Json } }[]
}

/** An agent has accepted the call of an attempt, and calls back with the answer. */
export interface Accepted extends AttemptRef {
  readonly agent: string
  readonly deadlineAt: number
}

/** The result of a request for a plan. */
export interface Planned {
  readonly request: string | undefined
  readonly result: PlanningResult
}

/** Results that are not in the journal. */
export interface Pending {
  readonly accepted: readonly Accepted[]
  readonly ended: readonly Ended[]
  readonly planned: Planned | undefined
}

export function toPendingEvents(current: RunState, now: number, from: Pending): NewEvent[] {
  const facts: NewEvent[] = []
  for (const accepted of from.accepted) {
    const { nodeId, attempt, agent, deadlineAt } = accepted
    if (!isRunning(current, accepted) || current.nodes.get(nodeId)?.attempt?.accepted) continue
    facts.push(factsFor(current, now)('attempt_accepted', { attempt, agent, deadlineAt }, { nodeId }))
  }
  for (const { nodeId, attempt, planVersion, result, logs } of from.ended) {
    // Another process has settled the attempt meanwhile: its result is not applied.
    if (!isRunning(current, { nodeId, attempt, planVersion })) continue
    const make = factsFor(current, now)
    for (const log of logs) facts.push(make('log', log, { nodeId }))
    const usage = charged(current, nodeId, result.usage)
    facts.push(...settlement(current, now, { nodeId, attempt, usage }))
    facts.push(make('attempt_end', { attempt, ...result, usage }, { nodeId }))
  }
  // An append without an answer may have been written: it has answered this request, and may have made the next one.
  if (from.planned?.request !== undefined && from.planned.request === openRequest(current))
    facts.push(...from.planned.result(current, now))
  return facts
}

export function isRunning(state: RunState, { nodeId, attempt, planVersion }: AttemptRef): boolean {
  if (state.planVersion !== planVersion || !state.running.has(nodeId)) return false
  return state.nodes.get(nodeId)?.attempts === attempt
}

/** Identifies the open request for a plan; absent if there is none, or its draft was rejected. */
export function openRequest({ planning, planVersion }: RunState): string | undefined {
  if (!planning || planning.rejected) return undefined
  return `${planVersion} ${planning.phase} ${planning.attempt}`
}
