/** The timed piece of work that an event ends: an attempt, a node, the run. */
import type { Json } from '../../base/json.ts'
import type { JournalEvent } from '../../domain/event.ts'
import type { SpanRow } from '../../domain/ports/store.ts'
import type { StoredNode } from './node-steps.ts'

/** A span as stores keep it: listed in the order in which the work ended. */
export interface StoredSpan extends SpanRow {
  readonly seq: number
}

export function spanOf(
  run: { readonly runId: string; readonly createdAt: number },
  event: JournalEvent,
  node: (nodeId: string) => StoredNode | undefined,
): StoredSpan | undefined {
  const { runId, seq, at: endedAt, planVersion, nodeId = '' } = event
  const ended = { runId, seq, endedAt }
  const row = node(nodeId)
  const id = `${planVersion}:${nodeId}`
  const about = { nodeId, planVersion, ...capability(row) }
  switch (event.type) {
    case 'attempt_end': {
      const { attempt, outcome, model, usage } = event.payload
      return {
        ...ended,
        spanId: `${id}:${attempt}`,
        parentSpanId: id,
        name: 'attempt',
        startedAt: row?.attemptStartedAt ?? endedAt,
        status: outcome,
        // Usage is JSON by construction; its interface only lacks the index signature.
        attributes: {
          ...about,
          attempt,
          outcome,
          usage: { ...usage },
          ...(model !== undefined && { model }),
        },
      }
    }
    case 'node_complete':
    case 'node_error': {
      const failed = event.type === 'node_error'
      return {
        ...ended,
        spanId: id,
        parentSpanId: runId,
        name: 'node',
        startedAt: row?.startedAt ?? endedAt,
        status: failed ? 'error' : 'completed',
        attributes: {
          ...about,
          attempt: event.payload.attempt,
          ...(failed && { outcome: event.payload.outcome, code: event.payload.error.code }),
        },
      }
    }
    case 'complete': {
      const { status, usage } = event.payload
      return {
        ...ended,
        spanId: runId,
        name: 'run',
        startedAt: run.createdAt,
        status,
        attributes: { planVersion, ...(usage !== undefined && { usage: { ...usage } }) },
      }
    }
    default:
      return undefined
  }
}

function capability(row: StoredNode | undefined): { [key: string]: Json } {
  return row?.capabilityId === undefined ? {} : { capabilityId: row.capabilityId }
}
