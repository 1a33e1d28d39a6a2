/** Deciding until only work is left: all the facts go into the journal together, and the attempts leave after that. */
import type { NewEvent } from '../domain/event.ts'
import { applyEvent } from '../domain/fold.ts'
import type { RunState } from '../domain/run.ts'
import { decide } from './decide.ts'
import type { Moment } from './fact.ts'
import { defaultConcurrency } from './iteration-work.ts'
import { decideStart, type Start } from './starts.ts'

export interface Step {
  /** In the order in which they were folded into the state; to be appended as they are. */
  readonly events: NewEvent[]
  readonly starts: Start[]
  /** A draft has to be made. */
  readonly plan: boolean
  /** More could start, but there was no room. */
  readonly crowded: boolean
  /** Capabilities of nodes that could start if this process knew them. */
  readonly missing: readonly string[]
}

/** A plan or a policy that goes round in circles would decide for ever. */
const mostFacts = 1_000_000

/** Folds into the state what has happened and everything that follows from it. `room` says whether one more may start. */
export function step(
  state: RunState,
  moment: Moment,
  given: { readonly happened: readonly NewEvent[]; readonly room: (capabilityId: string) => boolean },
): Step {
  const events: NewEvent[] = []
  const starts: Start[] = []
  const take = (facts: readonly NewEvent[]) => {
    for (const event of facts) {
      applyEvent(state, event)
      events.push(event)
    }
  }
  take(given.happened)
  for (;;) {
    const decision = decide(state, moment)
    switch (decision.kind) {
      case 'facts':
        take(decision.facts)
        if (events.length > mostFacts) throw new Error('The run decides without end')
        continue
      case 'ready': {
        const missing: string[] = []
        const outcome = startReady(state, moment, { ...given, take, starts, missing })
        if (outcome === 'decided') continue
        return { events, starts, plan: false, crowded: outcome === 'crowded', missing }
      }
      case 'plan':
      case 'wait':
        return { events, starts, plan: decision.kind === 'plan', crowded: false, missing: [] }
    }
  }
}

interface Starting {
  readonly room: (capabilityId: string) => boolean
  readonly take: (facts: readonly NewEvent[]) => void
  readonly starts: Start[]
  readonly missing: string[]
}

/** Starts what may start. `decided`: something was settled without an attempt, so there is more to decide. */
function startReady(
  state: RunState,
  moment: Moment,
  { room, take, starts, missing }: Starting,
): 'decided' | 'crowded' | 'done' {
  const most = state.plan?.limits.concurrency ?? defaultConcurrency
  for (const nodeId of state.ready) {
    const node = state.nodes.get(nodeId)
    if (node === undefined) continue
    const decision = decideStart(state, moment, node)
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
    if (!room(decision.start.capabilityId)) return 'crowded'
    take(decision.start.events)
    starts.push(decision.start)
  }
  return 'done'
}
