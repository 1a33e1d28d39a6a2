/** What attempts and planning have brought since the last turn, as facts for the journal. */
import type { Json } from '../base/json.ts'
import type { NewEvent } from '../domain/event.ts'
import type { AttemptResult } from '../domain/output.ts'
import type { RunState } from '../domain/run.ts'
import { charged, settlement } from './budget.ts'
import { factsFor } from './fact.ts'
import type { PlanningResult } from './planning.ts'

export interface Ended {
  readonly nodeId: string
  readonly attempt: number
  readonly result: AttemptResult
  readonly logs: readonly { event: string; payload?: { readonly [key: string]: Json } }[]
}

/** What came of a request for a plan. */
export interface Planned {
  readonly request: string | undefined
  readonly result: PlanningResult
}

export function happenings(
  current: RunState,
  now: number,
  from: { ended: readonly Ended[]; planned: Planned | undefined },
): NewEvent[] {
  const facts: NewEvent[] = []
  for (const { nodeId, attempt, result, logs } of from.ended) {
    // Somebody else has settled the attempt meanwhile: what it brought is not applied.
    if (!current.running.has(nodeId) || current.nodes.get(nodeId)?.attempts !== attempt) continue
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

/** Which plan is being asked for; nothing if none is, or the draft was refused. */
export function openRequest({ planning, planVersion }: RunState): string | undefined {
  if (!planning || planning.rejected) return undefined
  return `${planVersion} ${planning.phase} ${planning.attempt}`
}
