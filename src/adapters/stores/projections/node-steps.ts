/** Reduces each event into the row of its node, and into the span of the work that it ends: an attempt, a node, the run. */
import { canonicalJson, sha256Hex } from '../../../base/canonical.ts'
import type { Json } from '../../../base/json.ts'
import {
  addHealthEvent,
  finishHealthAttributes,
  type HealthAttributes,
  isHealthEvent,
} from '../../../domain/event/health-attributes.ts'
import type { EventType, JournalEvent, NewEvent } from '../../../domain/event.ts'
import type { NodeRow, SpanRow } from '../../../domain/ports/store.ts'
import { withoutAbsent } from './heads.ts'

/** A node's row as stores keep it; an absent member may be there as `undefined`. */
export interface StoredNode extends NodeRow {
  /** Rows are listed in the order in which their nodes became known. */
  readonly position: number
  /** When the last attempt began, for its span. */
  readonly attemptStartedAt?: number
  /** What the trace of the attempt under way has said so far, for its span. */
  readonly signals?: HealthAttributes
}

/** The row as readers get it. */
export function publicNode({ position: _, attemptStartedAt: __, signals: ___, ...row }: StoredNode): NodeRow {
  return withoutAbsent(row)
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
    contextHash: computeHash(payload.inputs),
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
export function findNodeId(event: NewEvent): string | undefined {
  if (steps[event.type] === undefined) return undefined
  if (event.type === 'timer_set') {
    return event.payload.purpose.kind === 'retry' ? event.payload.purpose.nodeId : undefined
  }
  return event.nodeId ?? (event.type === 'hitl_request' ? event.payload.nodeId : undefined)
}

/** Returns the node whose attempt a trace event belongs to, if the event is counted. */
export function findTracedNode(event: NewEvent): string | undefined {
  return event.type === 'log' && isHealthEvent(event.payload) ? event.nodeId : undefined
}

/** Applies a trace event to its node's row. Events outside of an attempt are not counted. */
export function stepSignals(row: StoredNode, event: JournalEvent): StoredNode {
  if (event.type !== 'log' || row.status !== 'running') return row
  const signals = addHealthEvent(row.signals, event.payload)
  return signals === row.signals ? row : patched(row, { signals })
}

/**
 * Applies new members; members that are `undefined` count as absent. Every member is named, so that all rows have one shape:
 * this runs for every event, and rows whose members come and go cost several times as much.
 */
export function patched(row: StoredNode, patch: Patch): StoredNode {
  const next: Record<string, unknown> = {
    runId: row.runId,
    nodeId: row.nodeId,
    planVersion: row.planVersion,
    capabilityId: row.capabilityId,
    kind: row.kind,
    label: row.label,
    status: row.status,
    attempts: row.attempts,
    contextHash: row.contextHash,
    validation: row.validation,
    output: row.output,
    error: row.error,
    startedAt: row.startedAt,
    endedAt: row.endedAt,
    position: row.position,
    attemptStartedAt: row.attemptStartedAt,
    signals: row.signals,
  }
  for (const key in patch) next[key] = patch[key as keyof Patch]
  // Patches take away optional members only.
  return next as unknown as StoredNode
}

function computeHash(inputs: Json): string {
  return sha256Hex(canonicalJson(inputs))
}

function named({ capabilityId, label }: { capabilityId?: string; label?: string }): Patch {
  return { ...(capabilityId !== undefined && { capabilityId }), ...(label !== undefined && { label }) }
}

/** A span as stores keep it: listed in the order in which the work ended. */
export interface StoredSpan extends SpanRow {
  readonly seq: number
}

interface Known {
  readonly node: (nodeId: string) => StoredNode | undefined
  /** What the trace of the attempt has said that the event ends. */
  readonly signals: HealthAttributes | undefined
}

/** Returns the timed piece of work that an event ends, if any. */
export function toSpan(
  run: { readonly runId: string; readonly createdAt: number },
  event: JournalEvent,
  { node, signals }: Known,
): StoredSpan | undefined {
  switch (event.type) {
    case 'attempt_end':
      return attemptSpan(event, node(event.nodeId ?? ''), signals)
    case 'node_complete':
    case 'node_error':
      return nodeSpan(event, node(event.nodeId ?? ''))
    case 'complete':
      return runSpan(run, event)
    default:
      return undefined
  }
}

/** Whether the span of the event has health attributes: it ends an attempt that a model or the reader said something about. */
export function isCounted(event: JournalEvent, signals: HealthAttributes | undefined): boolean {
  return event.type === 'attempt_end' && (signals !== undefined || event.payload.model !== undefined)
}

function attemptSpan(
  event: JournalEvent<'attempt_end'>,
  row: StoredNode | undefined,
  signals: HealthAttributes | undefined,
): StoredSpan {
  const { attempt, outcome, model, usage, output } = event.payload
  const attributes = about(event, row)
  attributes['attempt'] = attempt
  attributes['outcome'] = outcome
  attributes['usage'] = { ...usage }
  if (model !== undefined) attributes['model'] = model
  const repairs = output?.repairs
  Object.assign(
    attributes,
    finishHealthAttributes(signals, { ...(model && { model }), ...(repairs && { repairs }) }),
  )
  const parentSpanId = nodeSpanId(event)
  return {
    runId: event.runId,
    seq: event.seq,
    spanId: `${parentSpanId}:${attempt}`,
    parentSpanId,
    name: 'attempt',
    startedAt: row?.attemptStartedAt ?? event.at,
    endedAt: event.at,
    status: outcome,
    attributes,
  }
}

function nodeSpan(
  event: JournalEvent<'node_complete' | 'node_error'>,
  row: StoredNode | undefined,
): StoredSpan {
  const attributes = about(event, row)
  attributes['attempt'] = event.payload.attempt
  if (event.type === 'node_error') {
    attributes['outcome'] = event.payload.outcome
    attributes['code'] = event.payload.error.code
  }
  return {
    runId: event.runId,
    seq: event.seq,
    spanId: nodeSpanId(event),
    parentSpanId: event.runId,
    name: 'node',
    startedAt: row?.startedAt ?? event.at,
    endedAt: event.at,
    status: event.type === 'node_error' ? 'error' : 'completed',
    attributes,
  }
}

function runSpan(run: { readonly createdAt: number }, event: JournalEvent<'complete'>): StoredSpan {
  const { status, usage } = event.payload
  return {
    runId: event.runId,
    seq: event.seq,
    spanId: event.runId,
    name: 'run',
    startedAt: run.createdAt,
    endedAt: event.at,
    status,
    attributes: { planVersion: event.planVersion, ...(usage !== undefined && { usage: { ...usage } }) },
  }
}

function nodeSpanId({ planVersion, nodeId = '' }: JournalEvent): string {
  return `${planVersion}:${nodeId}`
}

/** Built up member by member, here and above: this runs for every attempt, and spreading costs several times as much. */
function about(
  { nodeId = '', planVersion }: JournalEvent,
  row: StoredNode | undefined,
): { [key: string]: Json } {
  const attributes: { [key: string]: Json } = { nodeId, planVersion }
  if (row?.capabilityId !== undefined) attributes['capabilityId'] = row.capabilityId
  return attributes
}
