/** Reduces each event into the row of its node. */
import { canonicalJson } from '../../../base/canonical.ts'
import { sha256Hex } from '../../../base/hash.ts'
import { joined } from '../../../base/joined.ts'
import type { Json } from '../../../base/json.ts'
import {
  addHealthEvent,
  type HealthAttributes,
  isHealthEvent,
} from '../../../domain/event/health-attributes.ts'
import type { EventType, JournalEvent, NewEvent } from '../../../domain/event.ts'
import type { NodeRow } from '../../../domain/ports/store.ts'

/** A node's row as stores keep it. */
export interface StoredNode extends NodeRow {
  /** Rows are listed in the order in which their nodes became known. */
  readonly position: number
  /** When the last attempt began, for its span. */
  readonly attemptStartedAt?: number
  /** What the trace of the attempt under way has said so far, for its span. */
  readonly signals?: HealthAttributes
}

/** New members of a row; `undefined` takes one away. */
type Patch = { readonly [K in keyof StoredNode]?: StoredNode[K] | undefined }

type Steps = { readonly [T in EventType]?: (event: JournalEvent<T>) => Patch }

const unsettled = { error: undefined, endedAt: undefined } as const

const steps: Steps = {
  node_start: ({ at, payload }) => ({
    status: 'running',
    startedAt: at,
    ...unsettled,
    ...named(payload),
    ...(payload.kind !== undefined && { kind: payload.kind }),
  }),
  iteration_start: ({ at, nodeId }) => ({
    status: 'running',
    // `each[3]` is an item of a map, `refine#2` a round of a loop.
    kind: nodeId?.endsWith(']') ? 'map' : 'loop',
    startedAt: at,
    ...unsettled,
  }),
  iteration_end: ({ at, payload }) => ({
    status: iterationStatus[payload.status],
    ...(payload.output !== undefined && { output: payload.output }),
    // A Failure is JSON by construction; its interface only lacks the index signature.
    ...(payload.error && { error: payload.error as unknown as NonNullable<NodeRow['error']> }),
    endedAt: at,
  }),
  attempt_start: ({ at, payload }) => ({
    status: 'running',
    attempts: payload.attempt,
    contextHash: hashOf(payload.inputs),
    validation: undefined,
    attemptStartedAt: at,
    signals: undefined,
    ...unsettled,
    ...named(payload),
  }),
  attempt_end: ({ payload }) => ({
    status: payload.interrupted ? 'waiting' : 'judging',
    signals: undefined,
  }),
  attempt_settled: () => ({ status: 'judging' }),
  timer_set: () => ({ status: 'waiting' }),
  hitl_request: () => ({ status: 'awaiting_hitl' }),
  node_complete: ({ at, payload }) => ({
    status: 'completed',
    output: payload.output.value,
    validation: 'valid',
    endedAt: at,
    error: undefined,
    ...named(payload),
  }),
  node_error: ({ at, payload }) => ({
    status: 'error',
    // A Failure is JSON by construction; its interface only lacks the index signature.
    error: payload.error as unknown as NonNullable<NodeRow['error']>,
    endedAt: at,
  }),
  validation_error: () => ({ validation: 'invalid' }),
  node_skipped: ({ at }) => ({ status: 'skipped', endedAt: at }),
}

const iterationStatus = { completed: 'completed', failed: 'error', cancelled: 'skipped' } as const

/** The row of a node after an event that concerns this one node. */
export function stepNode(row: StoredNode, event: JournalEvent): StoredNode {
  // The table pairs each type with its own event, which the index access cannot express.
  const step = steps[event.type] as ((event: JournalEvent) => Patch) | undefined
  return step === undefined ? row : patched(row, step(event))
}

/** Which single node an event concerns, if any. */
export function nodeOf(event: NewEvent): string | undefined {
  if (steps[event.type] === undefined) return undefined
  if (event.type === 'timer_set') {
    return event.payload.purpose.kind === 'retry' ? event.payload.purpose.nodeId : undefined
  }
  return event.nodeId ?? (event.type === 'hitl_request' ? event.payload.nodeId : undefined)
}

/** Returns the node whose attempt a trace event belongs to, if the event is counted. */
export function signalOf(event: NewEvent): string | undefined {
  return event.type === 'log' && isHealthEvent(event.payload) ? event.nodeId : undefined
}

/** Applies a trace event to its node's row. Events outside of an attempt are not counted. */
export function stepSignals(row: StoredNode, event: JournalEvent): StoredNode {
  if (event.type !== 'log' || row.status !== 'running') return row
  const signals = addHealthEvent(row.signals, event.payload)
  return signals === row.signals ? row : patched(row, { signals })
}

/** Applies new members; members that are `undefined` are removed. */
export function patched(row: StoredNode, patch: Patch): StoredNode {
  const next = joined(row as object, {}) as Record<string, unknown>
  for (const key in patch) {
    const value = patch[key as keyof Patch]
    if (value !== undefined) next[key] = value
    // Only if needed: `delete` makes objects slow.
    else if (next[key] !== undefined) delete next[key]
  }
  // Patches take away optional members only.
  return next as unknown as StoredNode
}

function hashOf(inputs: Json): string {
  return sha256Hex(canonicalJson(inputs))
}

function named({ capabilityId, label }: { capabilityId?: string; label?: string }): Patch {
  return { ...(capabilityId !== undefined && { capabilityId }), ...(label !== undefined && { label }) }
}
