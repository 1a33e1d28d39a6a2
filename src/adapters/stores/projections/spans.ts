/** The timed piece of work that an event ends: an attempt, a node, the run. */
import type { Json } from '../../../base/json.ts'
import { finishHealthAttributes, type HealthAttributes } from '../../../domain/event/health-attributes.ts'
import type { JournalEvent } from '../../../domain/event.ts'
import type { SpanRow } from '../../../domain/ports/store.ts'
import type { StoredNode } from './node-steps.ts'

/** A span as stores keep it: listed in the order in which the work ended. */
export interface StoredSpan extends SpanRow {
  readonly seq: number
}

interface Known {
  readonly node: (nodeId: string) => StoredNode | undefined
  /** What the trace of the attempt has said that the event ends. */
  readonly signals: HealthAttributes | undefined
}

export function spanOf(
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
