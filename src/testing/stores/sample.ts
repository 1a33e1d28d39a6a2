/** Small valid runs, plans and events, for the tests of stores. */
import type { Json } from '../../base/json.ts'
import type { Ask } from '../../domain/ask.ts'
import type { EventPayloads, EventType, NewEvent } from '../../domain/event.ts'
import type { Plan } from '../../domain/plan.ts'
import type { HeadUpdate, NewRun } from '../../domain/ports/store.ts'

interface EventMembers {
  readonly version?: number
  readonly at?: number
  readonly planVersion?: number
  readonly nodeId?: string
  readonly message?: string
}

export function sampleEvent<T extends EventType>(
  type: T,
  payload: EventPayloads[T],
  members: EventMembers = {},
): NewEvent {
  // A type with its payload is one member of the union, which a generic function cannot express.
  return { type, version: 1, at: 1_000, planVersion: 1, ...members, payload } as NewEvent
}

/** An event that no projection uses. */
export function logEvent(value: Json): NewEvent {
  return sampleEvent('log', { event: 'sample', payload: { value } })
}

export function startEvent(
  objective = 'Write two headlines',
  {
    threadId,
    pipeline,
    constraints = {},
  }: {
    readonly threadId?: string
    readonly pipeline?: string
    readonly constraints?: { readonly [name: string]: Json }
  } = {},
): NewEvent {
  return sampleEvent(
    'start',
    {
      envelope: {
        objective,
        inputs: { topic: 'tea' },
        constraints,
        outputContract: { schema: { type: 'object' }, constraints: [] },
        policies: { planner: {}, runtime: [] } as unknown as EventPayloads['start']['envelope']['policies'],
        specialInstructions: [],
        metadata: pipeline === undefined ? {} : { pipeline },
      },
      correlationId: 'c-1',
      schemaHash: 'h-1',
      ...(threadId !== undefined && { threadId }),
    },
    { planVersion: 0 },
  )
}

/** A plan of two nodes: `write` supplies the facet `copy`, `check` follows it. */
export function samplePlan(version = 1, ids: readonly string[] = ['write', 'check']): Plan {
  const nodes = ids.map((id) => ({
    id,
    kind: 'execution',
    capabilityId: `cap.${id}`,
    label: id.toUpperCase(),
    contracts: { input: {}, output: {} },
    inputs: {},
    needs: [],
    postConditions: [],
    guards: [],
    provides: [],
    enforces: [],
    facetProvenance: { input: [], output: id === 'write' ? [{ facet: 'copy', pointer: '/text' }] : [] },
  }))
  const diagnostics = { status: 'accepted', satisfactionScore: 1, failures: [], warnings: [], infos: [] }
  // Only the prover can create a real Plan; a store does not read it.
  return { version, nodes, edges: [], output: [], limits: {}, diagnostics, metadata: {} } as unknown as Plan
}

export function planEvent(plan = samplePlan(), at = 1_000): NewEvent {
  return sampleEvent(
    'plan_generated',
    {
      plan,
      planVersion: plan.version,
      satisfactionScore: 1,
      diagnostics: plan.diagnostics,
      metadata: {},
    },
    // The version that the engine writes.
    { at, planVersion: plan.version, version: 2 },
  )
}

export function sampleAsk(requestId: string, nodeId?: string): Ask {
  return {
    requestId,
    kind: 'approval',
    question: 'Is this good?',
    value: { text: 'Tea' },
    valueHash: 'v-1',
    decisions: ['approve', 'reject'],
    expiresAt: 99_000,
    ...(nodeId !== undefined && { nodeId }),
  }
}

export const runningHead: HeadUpdate = { status: 'running', planVersion: 1, wakeAt: 0 }

export function newRun(runId: string, members: Partial<NewRun> = {}): NewRun {
  return { runId, tenant: 't-1', events: [startEvent()], head: runningHead, ...members }
}
