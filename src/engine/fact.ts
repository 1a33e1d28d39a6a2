/** Makes events: the one place that knows what every event carries besides its payload. */
import type { EventPayloads, EventType, NewEvent } from '../domain/event.ts'
import type { Usage } from '../domain/output.ts'
import type { RunState } from '../domain/run.ts'

/** A call that is still to be sent, or what it has reported as spent so far. */
export type CallInFlight = 'not-sent' | { readonly spent: Usage }

/** What deciding needs besides the state: the time, and what is known of capabilities. */
export interface Moment {
  readonly now: number
  /** What dispatch has to know of a capability; absent if nobody here can do it. */
  readonly capability: (capabilityId: string) =>
    | {
        readonly kind: string
        readonly idempotent: boolean
        readonly sideEffect: boolean
        readonly untrusted: boolean
        readonly tokens: number
      }
    | undefined
  /** The capabilities that come into question for a plan of this run, as the catalog is now. */
  readonly considered: (state: RunState) => Pick<EventPayloads['plan_requested'], 'capabilities' | 'crcs'>
  /** What is known of a running attempt's call in this process; nothing where the journal is all there is. */
  readonly call?: (nodeId: string, attempt: number) => CallInFlight | undefined
  /** How long an ask stays open. */
  readonly askMs: number
}

export interface FactDetails {
  readonly nodeId?: string | undefined
  readonly message?: string | undefined
}

/** The version in which each type's payload is written; types not named are in version 1. */
const versions: Partial<Record<EventType, number>> = { plan_generated: 2 }

export function fact<T extends EventType>(
  type: T,
  payload: EventPayloads[T],
  at: { readonly now: number; readonly planVersion: number } & FactDetails,
): NewEvent {
  // Member by member: this runs for every event, and spreading costs several times as much.
  const event: Record<string, unknown> = {
    type,
    version: versions[type] ?? 1,
    at: at.now,
    planVersion: at.planVersion,
    payload,
  }
  if (at.nodeId !== undefined) event['nodeId'] = at.nodeId
  if (at.message !== undefined) event['message'] = at.message
  // The union over all types cannot follow that type and payload belong together; the signature can.
  return event as unknown as NewEvent
}

/** A maker of facts for one state at one moment. */
export function factsFor(state: Pick<RunState, 'planVersion'>, now: number) {
  return <T extends EventType>(
    type: T,
    payload: EventPayloads[T],
    { nodeId, message }: FactDetails = {},
  ): NewEvent => fact(type, payload, { now, planVersion: state.planVersion, nodeId, message })
}
