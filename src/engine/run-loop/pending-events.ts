/** What attempts and planning have brought since the last turn, as facts for the journal. */
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

/** An agent has taken the call of an attempt, and calls back. */
export interface Accepted extends AttemptRef {
  readonly agent: string
  readonly deadlineAt: number
}

/** What came of a request for a plan. */
export interface Planned {
  readonly request: string | undefined
  readonly result: PlanningResult
}

export function happenings(
  current: RunState,
  now: number,
  from: {
    readonly accepted: readonly Accepted[]
    readonly ended: readonly Ended[]
    readonly planned: Planned | undefined
  },
): NewEvent[] {
  const facts: NewEvent[] = []
  for (const accepted of from.accepted) {
    const { nodeId, attempt, agent, deadlineAt } = accepted
    if (!isRunning(current, accepted) || current.nodes.get(nodeId)?.attempt?.accepted) continue
    facts.push(factsFor(current, now)('attempt_accepted', { attempt, agent, deadlineAt }, { nodeId }))
  }
  for (const { nodeId, attempt, planVersion, result, logs } of from.ended) {
    // The attempt was settled meanwhile, by another process: what it brought is not applied.
    if (!isRunning(current, { nodeId, attempt, planVersion })) continue
    const make = factsFor(current, now)
    for (const log of logs) facts.push(make('log', log, { nodeId }))
    const usage = charged(current, nodeId, result.usage)
    facts.push(...settlement(current, now, { nodeId, attempt, usage }))
    facts.push(make('attempt_end', { attempt, ...result, usage }, { nodeId }))
  }
  // An append that landed unheard has answered the request already, and may have made the next one.
  if (from.planned?.request !== undefined && from.planned.request === openRequest(current))
    facts.push(...from.planned.result(current, now))
  return facts
}

export function isRunning(state: RunState, { nodeId, attempt, planVersion }: AttemptRef): boolean {
  if (state.planVersion !== planVersion || !state.running.has(nodeId)) return false
  return state.nodes.get(nodeId)?.attempts === attempt
}

/** Which plan is being asked for; nothing if none is, or the draft was refused. */
export function openRequest({ planning, planVersion }: RunState): string | undefined {
  if (!planning || planning.rejected) return undefined
  return `${planVersion} ${planning.phase} ${planning.attempt}`
}
