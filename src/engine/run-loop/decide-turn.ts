/** The decisions of one turn: folds the new events into the run and decides until only calls are left. */
import type { NewEvent } from '../../domain/event.ts'
import type { RunState } from '../../domain/run.ts'
import { type AttemptLocation, orphanFacts } from '../decide/decide.ts'
import { type Step, step } from '../decide/decide-until-idle.ts'
import type { DecisionContext } from '../events.ts'
import type { ActorState } from './actor-state.ts'
import { toPendingEvents } from './pending-events.ts'
import type { ActorContext } from './run-actor-context.ts'

/** Folds events into `run` in place. `isReread`: running attempts that this process does not know end with an unknown outcome. */
export function decideTurn(
  state: ActorState,
  {
    run,
    isReread,
    decisionContext,
  }: { readonly run: RunState; readonly isReread: boolean; readonly decisionContext: DecisionContext },
  { slots, planAtHand }: Pick<ActorContext, 'slots' | 'planAtHand'>,
): Step {
  const takeSlot = (capabilityId: string) => slots.take(state.runId, capabilityId)
  const decideAfter = (happened: readonly NewEvent[]) => step(run, decisionContext, { happened, takeSlot })
  let done = decideAfter([
    ...state.opening,
    ...toPendingEvents(run, decisionContext.now, state.taken),
    ...(isReread ? orphanFacts(run, decisionContext, locateAttempts(state)) : []),
  ])
  // A draft that came with the envelope is proved at once, so that it needs no turn of its own.
  while (done.plan) {
    const result = planAtHand(run)
    if (!result) break
    const next = decideAfter(result(run, decisionContext.now))
    done = {
      ...next,
      events: [...done.events, ...next.events],
      starts: [...done.starts, ...next.starts],
    }
  }
  return done
}

function locateAttempts({ calls, taken, unsent }: ActorState) {
  return (nodeId: string, attempt: number): AttemptLocation => {
    if (calls.get(nodeId)?.attempt === attempt) return 'here'
    if (taken.ended.some((end) => end.nodeId === nodeId && end.attempt === attempt)) return 'here'
    return unsent.get(nodeId) === attempt ? 'never-left' : 'unknown'
  }
}
