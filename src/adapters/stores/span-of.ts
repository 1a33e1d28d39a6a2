/** The timed piece of work that an event ends: an attempt, a node, the run. */
import type { Json } from '../../base/json.ts'
import type { JournalEvent } from '../../domain/event.ts'
import type { SpanRow } from '../../domain/ports/store.ts'
import type { StoredNode } from './node-steps.ts'

/** A span as stores keep it: listed in the order in which the work ended. */
export interface StoredSpan extends SpanRow {
  readonly seq: number
}

type FindNode = (nodeId: string) => StoredNode | undefined

export function spanOf(
  run: { readonly runId: string; readonly createdAt: number },
  event: JournalEvent,
  node: FindNode,
): StoredSpan | undefined {
  switch (event.type) {
    case 'attempt_end':
      return attemptSpan(event, node(event.nodeId ?? ''))
    case 'node_complete':
    case 'node_error':
      return nodeSpan(event, node(event.nodeId ?? ''))
    case 'complete':
      return runSpan(run, event)
    default:
      return undefined
  }
}

function attemptSpan(event: JournalEvent<'attempt_end'>, row: StoredNode | undefined): StoredSpan {
  const { attempt, outcome, model, usage } = event.payload
  return {
    ...ended(event),
    spanId: `${nodeSpanId(event)}:${attempt}`,
    parentSpanId: nodeSpanId(event),
    name: 'attempt',
    startedAt: row?.attemptStartedAt ?? event.at,
    status: outcome,
    attributes: {
      ...about(event, row),
      attempt,
      outcome,
      usage: { ...usage },
      ...(model !== undefined && { model, 'aros.model_id': model }),
      ...transformsOf(event),
    },
  }
}

/** Which rules changed the answer that counts (AROS-60); of an attempt that failed nothing is said. */
function transformsOf({ payload: { outcome, output } }: JournalEvent<'attempt_end'>): {
  [key: string]: Json
} {
  const rules = new Set((output?.repairs ?? []).map(({ rule }) => rule))
  return outcome === 'ok' && rules.size > 0 ? { 'aros.transforms': [...rules] } : {}
}

function nodeSpan(
  event: JournalEvent<'node_complete' | 'node_error'>,
  row: StoredNode | undefined,
): StoredSpan {
  return {
    ...ended(event),
    spanId: nodeSpanId(event),
    parentSpanId: event.runId,
    name: 'node',
    startedAt: row?.startedAt ?? event.at,
    status: event.type === 'node_error' ? 'error' : 'completed',
    attributes: {
      ...about(event, row),
      attempt: event.payload.attempt,
      ...(event.type === 'node_error' && {
        outcome: event.payload.outcome,
        code: event.payload.error.code,
      }),
    },
  }
}

function runSpan(run: { readonly createdAt: number }, event: JournalEvent<'complete'>): StoredSpan {
  const { status, usage } = event.payload
  return {
    ...ended(event),
    spanId: event.runId,
    name: 'run',
    startedAt: run.createdAt,
    status,
    attributes: { planVersion: event.planVersion, ...(usage !== undefined && { usage: { ...usage } }) },
  }
}

function ended({ runId, seq, at }: JournalEvent): Pick<StoredSpan, 'runId' | 'seq' | 'endedAt'> {
  return { runId, seq, endedAt: at }
}

function nodeSpanId({ planVersion, nodeId = '' }: JournalEvent): string {
  return `${planVersion}:${nodeId}`
}

function about(
  { nodeId = '', planVersion }: JournalEvent,
  row: StoredNode | undefined,
): { [key: string]: Json } {
  return {
    nodeId,
    planVersion,
    ...(row?.capabilityId !== undefined && { capabilityId: row.capabilityId }),
  }
}
