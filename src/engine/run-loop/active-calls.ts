/** The calls in flight of one active run: makes the calls of started attempts, and passes their results on as inputs. */
import { createStop, type Stop } from '../../base/stop.ts'
import type { AttemptRef } from '../../domain/attempt/call-key.ts'
import type { AttemptResult, Usage } from '../../domain/output.ts'
import type { RunState } from '../../domain/run.ts'
import type { CallInFlight } from '../events.ts'
import type { Dispatch, Handler } from './actor-state.ts'
import type { Ended } from './pending-events.ts'
import type { ActorContext, Work } from './run-actor-context.ts'

/** The handle of a call in flight. */
interface Flight {
  readonly ref: AttemptRef
  readonly stop: Stop
  /** Releases the slot, once. */
  readonly release: () => void
  /** Usage that the call has reported. */
  spent: Usage
  /** The run does not wait for it any more: its result is a late result. */
  isInterrupted: boolean
}

export function createCalls(
  { perform, slots, onLateResult }: ActorContext,
  runId: string,
  dispatch: Dispatch,
) {
  const flights = new Map<string, Flight>()

  const start: Handler<'call'> = ({ call: { nodeId, attempt, planVersion }, start, run }) => {
    const ref = { nodeId, attempt, planVersion }
    const logs: Ended['logs'][number][] = []
    const stop = createStop()
    const release = once(() => slots.release(start.capabilityId))
    const flight: Flight = { ref, stop, release, spent: { calls: 1 }, isInterrupted: false }
    flights.set(nodeId, flight)
    const work: Work = {
      stop,
      log: (event, payload) => logs.push({ event, ...(payload && { payload }) }),
      onAccepted(deadlineAt) {
        if (flight.isInterrupted) return
        dispatch({ kind: 'accepted', accepted: { ...ref, agent: start.capabilityId, deadlineAt } })
      },
      onUsage(spent) {
        flight.spent = spent
      },
      onLateResult(result) {
        if (flight.isInterrupted) onLateResult(runId, ref, result)
      },
    }
    const end = (result: AttemptResult) => {
      release()
      if (flight.isInterrupted) return
      flights.delete(nodeId)
      dispatch({ kind: 'ended', ended: { ...ref, result, logs } })
    }
    perform(run, start, work)
      .then(end)
      .catch((cause: unknown) => {
        release()
        dispatch({ kind: 'crashed', cause })
      })
  }

  return {
    start,
    /** Reports what is known of the call of a running attempt; one that is not in flight here was started in this turn. */
    usageOf:
      (run: RunState) =>
      (nodeId: string, attempt: number): CallInFlight => {
        const flight = flights.get(nodeId)
        if (flight?.ref.attempt === attempt) return { spent: flight.spent }
        // Another process may have made a call that was accepted.
        return run.nodes.get(nodeId)?.attempt?.accepted ? { spent: { calls: 1 } } : 'not-sent'
      },
    /** Aborts calls without waiting: a capability may ignore its signal. */
    interrupt(calls: readonly AttemptRef[]) {
      for (const { nodeId, attempt } of calls) {
        const flight = flights.get(nodeId)
        if (flight?.ref.attempt !== attempt) continue
        flight.isInterrupted = true
        flights.delete(nodeId)
        flight.release()
        flight.stop.abort(new Error('The run moved on'))
      }
    },
    abandon() {
      for (const { stop } of flights.values()) stop.abort(new Error('The run has left this process'))
    },
  }
}

function once(act: () => void): () => void {
  let isDone = false
  return () => {
    if (isDone) return
    isDone = true
    act()
  }
}
