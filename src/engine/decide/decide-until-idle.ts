/**
 * Decides until only attempts are left to perform. As in a write-ahead log, all events are appended to the journal in one
 * batch before the attempts start.
 */
import type { NewEvent } from '../../domain/event.ts'
import type { Considered } from '../../domain/ports/planner.ts'
import { applyEvent } from '../../domain/run/fold.ts'
import type { RunState } from '../../domain/run.ts'
import type { DecisionContext } from '../events.ts'
import { defaultConcurrency } from '../journal/run-head.ts'
import { decide } from './decide.ts'
import { decideStart, type Start } from './start-nodes.ts'

export interface Decisions {
  /** In the order in which they were applied to the state; to be appended unchanged. */
  readonly events: NewEvent[]
  readonly starts: Start[]
  /** Whether a draft is needed. */
  readonly plan: boolean
  /** The candidates for the draft and their prices, if it was requested here: the planner does not price them again. */
  readonly considered?: Considered
  /** Whether more could start, but capacity was used up. */
  readonly atCapacity: boolean
  /** Capabilities of nodes that could start if this process had them. */
  readonly missing: readonly string[]
}

/** Guard against a plan or policy that would decide forever. */
const mostFacts = 1_000_000

/**
 * Applies new events and all decisions that follow to the state. `takeSlot` returns whether the capability has capacity for
 * one more attempt.
 */
export function decideUntilIdle(
  state: RunState,
  context: DecisionContext,
  given: { readonly happened: readonly NewEvent[]; readonly takeSlot: TakeSlot },
): Decisions {
  const events: NewEvent[] = []
  const starts: Start[] = []
  let considered: Considered | undefined
  const take = (facts: readonly NewEvent[]) => {
    for (const event of facts) {
      applyEvent(state, event)
      events.push(event)
    }
  }
  take(given.happened)
  for (;;) {
    const decision = decide(state, context)
    switch (decision.kind) {
      case 'facts':
        take(decision.facts)
        considered = decision.considered ?? considered
        if (events.length > mostFacts) throw new Error('The run decides without end')
        continue
      case 'ready': {
        const missing: string[] = []
        const outcome = startReady(state, context, { takeSlot: given.takeSlot, take, starts, missing })
        if (outcome === 'decided') continue
        return { events, starts, plan: false, atCapacity: outcome === 'atCapacity', missing }
      }
      case 'plan':
        return {
          events,
          starts,
          plan: true,
          ...(considered && { considered }),
          atCapacity: false,
          missing: [],
        }
      case 'wait':
        return { events, starts, plan: false, atCapacity: false, missing: [] }
    }
  }
}

/** `hasAlternate`: the node has another capability to call after this one. */
export type TakeSlot = (capabilityId: string, hasAlternate: boolean) => boolean

interface Starting {
  readonly takeSlot: TakeSlot
  readonly take: (facts: readonly NewEvent[]) => void
  readonly starts: Start[]
  readonly missing: string[]
}

/** Starts ready nodes. `decided`: a node was settled without an attempt, so there is more to decide. */
function startReady(
  state: RunState,
  context: DecisionContext,
  { takeSlot, take, starts, missing }: Starting,
): 'decided' | 'atCapacity' | 'done' {
  const most = state.plan?.limits.concurrency ?? defaultConcurrency
  for (const nodeId of state.ready) {
    const node = state.nodes.get(nodeId)
    if (node === undefined) continue
    const decision = decideStart(state, context, node)
    if (decision === 'later') continue
    if ('missing' in decision) {
      missing.push(decision.missing)
      continue
    }
    if ('facts' in decision) {
      take(decision.facts)
      return 'decided'
    }
    if (state.running.size >= most) return 'done'
    const hasAlternate = node.candidate < (node.node.alternates?.length ?? 0)
    if (!takeSlot(decision.start.capabilityId, hasAlternate)) return 'atCapacity'
    take(decision.start.events)
    starts.push(decision.start)
  }
  return 'done'
}
