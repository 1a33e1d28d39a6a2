/** Creates events: the only module that knows the members of every event besides its payload. */
import type { Issue } from '../base/errors/issue.ts'
import type { Json } from '../base/json.ts'
import type { EventPayloads, EventType, NewEvent } from '../domain/event.ts'
import type { Usage } from '../domain/output.ts'
import type { Considered } from '../domain/ports/planner.ts'
import type { RunState } from '../domain/run.ts'
import type { ModelSettings } from '../domain/settings/model-settings.ts'
import type { HumanSettings } from '../domain/task/assignment.ts'

/** A call that is not sent yet, or the usage it has reported so far. */
export type CallInFlight = 'not-sent' | { readonly spent: Usage }

/** Decision context: what the decision functions need besides the state (time and capabilities). */
export interface DecisionContext {
  readonly now: number
  /** Properties of a capability that decisions depend on; absent if this process lacks it. */
  readonly capability: (capabilityId: string) =>
    | {
        readonly kind: string
        readonly idempotent: boolean
        readonly sideEffect: boolean
        readonly untrusted: boolean
        readonly tokens: number
        /** Whom tasks of kind `human` are assigned to. */
        readonly human?: HumanSettings
        /** Of an agent: most turns of its model in one attempt. */
        readonly turns?: number
        /** Of a model: its own settings. */
        readonly modelSettings?: ModelSettings
      }
    | undefined
  /** Whether this process executes the capability, or leaves its attempts to others. Absent: it executes all it knows. */
  readonly isServed?: (capabilityId: string) => boolean
  /** Selects and prices the candidate capabilities for a plan of this run, by the current catalog. */
  readonly considerCapabilities: (state: RunState) => PlanningInput
  /** What this process knows about the call of a running attempt; absent where only the journal is available. */
  readonly call?: (nodeId: string, attempt: number) => CallInFlight | undefined
  /** What the validator of the caller has against an answer that satisfies the contract. Absent: nothing. */
  readonly refuseAnswer?: (state: RunState, answer: Json) => readonly Issue[]
  /** How long an ask stays open. */
  readonly askMs: number
}

export interface PlanningInput {
  /** As `plan_requested` records it. */
  readonly recorded: Pick<EventPayloads['plan_requested'], 'capabilities' | 'crcs'>
  /** For the planner, so that it does not price the same candidates again; absent if a draft names them. */
  readonly considered?: Considered
}

interface FactDetails {
  readonly nodeId?: string | undefined
  readonly message?: string | undefined
}

/** Payload version of each event type; 1 if not listed. */
const versions: Partial<Record<EventType, number>> = { plan_generated: 2 }

export function fact<T extends EventType>(
  type: T,
  payload: EventPayloads[T],
  at: { readonly now: number; readonly planVersion: number } & FactDetails,
): NewEvent {
  // Assigns members one by one: this runs for every event, and spreading costs several times as much.
  const event: Record<string, unknown> = {
    type,
    version: versions[type] ?? 1,
    at: at.now,
    planVersion: at.planVersion,
    payload,
  }
  if (at.nodeId !== undefined) event['nodeId'] = at.nodeId
  if (at.message !== undefined) event['message'] = at.message
  // The union type cannot express that type and payload belong together; the signature can.
  return event as unknown as NewEvent
}

/** Returns an event factory for one state and time. */
export function factsFor(state: Pick<RunState, 'planVersion'>, now: number) {
  return <T extends EventType>(
    type: T,
    payload: EventPayloads[T],
    { nodeId, message }: FactDetails = {},
  ): NewEvent => fact(type, payload, { now, planVersion: state.planVersion, nodeId, message })
}
