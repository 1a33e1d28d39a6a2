/** Derives messages between people and a run (FLEX-86): one for each ask and one for its resolution. */
import type { Json } from '../../../base/json.ts'
import type { JournalEvent } from '../../../domain/event.ts'
import type { MessageRow } from '../../../domain/ports/store.ts'

type Said = JournalEvent<'hitl_request' | 'hitl_resolved'>

export function messageOf(tenant: string, event: Said): MessageRow {
  const { runId, seq, at } = event
  const { requestId } = event.payload
  const nodeId = event.nodeId ?? ('nodeId' in event.payload ? event.payload.nodeId : undefined)
  return {
    // The sequence number is last, so that message ids of two runs never collide.
    messageId: `${runId}:message:${seq}`,
    runId,
    tenant,
    seq,
    at,
    role: roleOf(event),
    requestId,
    ...(nodeId !== undefined && { nodeId }),
    body: bodyOf(event),
  }
}

/** An ask that expires has no human author. */
function roleOf(event: Said): MessageRow['role'] {
  if (event.type === 'hitl_request') return 'agent'
  const { decision } = event.payload
  return decision === 'expired' || decision === 'settled' || decision === 'withdrawn' ? 'system' : 'operator'
}

function bodyOf(event: Said): { readonly [name: string]: Json } {
  if (event.type === 'hitl_request') {
    const { kind, question, value } = event.payload
    return { kind, question, value }
  }
  const { decision, by, note, value, rejectAction } = event.payload
  return {
    decision,
    by,
    ...(note !== undefined && { note }),
    ...(value !== undefined && { value }),
    ...(rejectAction !== undefined && { rejectAction }),
  }
}
