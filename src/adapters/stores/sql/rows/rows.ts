/** Rows of the tables ↔ the values of the port: the one place where SQL becomes domain. */
import type { Ask } from '../../../../domain/ask.ts'
import type { HealthAttributes } from '../../../../domain/event/health-attributes.ts'
import { upcast, type WrittenEvent } from '../../../../domain/event/numbered.ts'
import type { JournalEvent } from '../../../../domain/event.ts'
import { priorityLevels } from '../../../../domain/placement.ts'
import type {
  AskRow,
  AuditRow,
  MessageRow,
  NodeRow,
  OutputRow,
  SnapshotRow,
} from '../../../../domain/ports/store.ts'
import type { RunStatus } from '../../../../domain/status.ts'
import { dueAt, type HeadCore, type StoredHead } from '../../projections/heads.ts'
import type { StoredNode } from '../../projections/node-steps.ts'
import { decode } from '../../shared/codec.ts'
import type { LockedRow } from '../statements/write-statements.ts'
import type {
  AskTable,
  AuditTable,
  EventTable,
  MessageTable,
  NodeTable,
  OutputTable,
  RunTable,
  SnapshotTable,
} from '../tables.ts'
import { type PackedEvent, packedType } from '../writes.ts'

/** Texts of large values by hash, loaded beforehand. */
export type Values = ReadonlyMap<string, string>

/** Turns a value into the text of its column; large parts are put aside on the way. */
export type Encode = (value: unknown) => string

/** The columns that an append can change. */
export function changeRow(head: HeadCore) {
  return {
    run_id: head.runId,
    seq: head.seq,
    status: head.status,
    plan_version: head.planVersion,
    wake_at: head.wakeAt ?? null,
    updated_at: head.updatedAt,
    satisfaction_score: head.satisfactionScore ?? null,
    observed_satisfaction: head.observedSatisfaction ?? null,
    cost_usd: head.costUsd ?? null,
    tokens: head.tokens ?? null,
    lease_owner: head.owner ?? null,
    lease_until: head.leaseUntil ?? null,
    due_at: dueAt(head) ?? null,
  }
}

export function headRow(
  head: StoredHead,
): Omit<RunTable, 'persona' | 'variant_policy' | 'claim_id' | 'nodes_seq'> {
  return {
    tenant: head.tenant,
    created_at: head.createdAt,
    objective: head.objective,
    schema_hash: head.schemaHash,
    pipeline: head.pipeline ?? null,
    thread_id: head.threadId ?? null,
    correlation_id: head.correlationId,
    lease_epoch: head.epoch,
    priority: priorityLevels[head.priority ?? 'normal'],
    placement: head.placement ?? null,
    ...changeRow(head),
  }
}

export function toCore(row: Omit<LockedRow, 'now'>): HeadCore {
  return {
    runId: row.run_id,
    tenant: row.tenant,
    seq: row.seq,
    // Only this module writes the column.
    status: row.status as RunStatus,
    planVersion: row.plan_version,
    wakeAt: row.wake_at ?? undefined,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    schemaHash: row.schema_hash,
    satisfactionScore: row.satisfaction_score ?? undefined,
    observedSatisfaction: row.observed_satisfaction ?? undefined,
    costUsd: row.cost_usd ?? undefined,
    tokens: row.tokens ?? undefined,
    epoch: row.lease_epoch,
    owner: row.lease_owner ?? undefined,
    leaseUntil: row.lease_until ?? undefined,
  }
}

export function toHead(row: RunTable): StoredHead {
  return {
    ...toCore(row),
    objective: row.objective,
    correlationId: row.correlation_id,
    ...(row.pipeline !== null && { pipeline: row.pipeline }),
    ...(row.thread_id !== null && { threadId: row.thread_id }),
    ...(row.priority !== 0 && { priority: row.priority > 0 ? 'high' : 'low' }),
    ...(row.placement !== null && { placement: row.placement }),
  }
}

/** The events of a row, which has one or several (`writes.ts`). */
export function toEvents(row: EventTable, values: Values): JournalEvent[] {
  if (row.type !== packedType) return [toEvent(row, values)]
  // What `eventRows` wrote.
  const packed = decode(row.payload, values) as unknown as readonly PackedEvent[]
  const before = row.seq - packed.length
  return packed.map(([type, payload, nodeId, other], index) => {
    // Member by member: this runs for every event.
    const event: Record<string, unknown> = {
      type,
      version: other?.version ?? row.version,
      at: other?.at ?? row.at,
      planVersion: other?.planVersion ?? row.plan_version,
      payload,
      runId: row.run_id,
      seq: before + index + 1,
    }
    if (nodeId !== undefined && nodeId !== null) event['nodeId'] = nodeId
    if (other?.message !== undefined) event['message'] = other.message
    return upcast(event as unknown as WrittenEvent)
  })
}

function toEvent(row: EventTable, values: Values): JournalEvent {
  return upcast({
    // Only this module writes the column, from events.
    type: row.type as WrittenEvent['type'],
    version: row.version,
    at: row.at,
    planVersion: row.plan_version,
    ...(row.node_id !== null && { nodeId: row.node_id }),
    ...(row.message !== null && { message: row.message }),
    payload: decode(row.payload, values),
    runId: row.run_id,
    seq: row.seq,
  })
}

export function nodeRow(node: StoredNode, encode: Encode): NodeTable {
  return {
    run_id: node.runId,
    node_id: node.nodeId,
    position: node.position,
    plan_version: node.planVersion,
    capability_id: node.capabilityId ?? null,
    kind: node.kind,
    label: node.label ?? null,
    status: node.status,
    attempts: node.attempts,
    context_hash: node.contextHash ?? null,
    validation_status: node.validation ?? null,
    output: node.output === undefined ? null : encode(node.output),
    error: node.error === undefined ? null : encode(node.error),
    started_at: node.startedAt ?? null,
    ended_at: node.endedAt ?? null,
    attempt_started_at: node.attemptStartedAt ?? null,
    signals: node.signals === undefined ? null : encode(node.signals),
  }
}

function toNode(row: NodeTable, values: Values): NodeRow {
  return {
    runId: row.run_id,
    nodeId: row.node_id,
    planVersion: row.plan_version,
    kind: row.kind,
    status: row.status,
    attempts: row.attempts,
    ...(row.capability_id !== null && { capabilityId: row.capability_id }),
    ...(row.label !== null && { label: row.label }),
    ...(row.context_hash !== null && { contextHash: row.context_hash }),
    // Only `nodeRow` writes the column.
    ...(row.validation_status !== null && { validation: row.validation_status as 'valid' | 'invalid' }),
    ...(row.output !== null && { output: decode(row.output, values) }),
    ...(row.error !== null && { error: decode(row.error, values) }),
    ...(row.started_at !== null && { startedAt: row.started_at }),
    ...(row.ended_at !== null && { endedAt: row.ended_at }),
  }
}

export function toStoredNode(row: NodeTable, values: Values): StoredNode {
  return {
    ...toNode(row, values),
    position: row.position,
    ...(row.attempt_started_at !== null && { attemptStartedAt: row.attempt_started_at }),
    // What `nodeRow` wrote.
    ...(row.signals !== null && { signals: decode(row.signals, values) as HealthAttributes }),
  }
}

/** `plan` is the text of the plan. */
export function snapshotRow(snapshot: SnapshotRow, encode: Encode, plan: string): SnapshotTable {
  return {
    run_id: snapshot.runId,
    seq: snapshot.seq,
    plan_version: snapshot.planVersion,
    at: snapshot.at,
    pending_node_ids: encode(snapshot.pendingNodeIds),
    plan,
    facets: encode(snapshot.facets),
  }
}

export function toSnapshot(row: SnapshotTable, values: Values): SnapshotRow {
  return {
    runId: row.run_id,
    planVersion: row.plan_version,
    seq: row.seq,
    at: row.at,
    pendingNodeIds: decode(row.pending_node_ids, values) as string[],
    plan: decode(row.plan, values),
    facets: decode(row.facets, values),
  }
}

export function outputRow(output: OutputRow, encode: Encode): OutputTable {
  return {
    run_id: output.runId,
    plan_version: output.planVersion,
    status: output.status,
    output: output.output === undefined ? null : encode(output.output),
    error: output.error === undefined ? null : encode(output.error),
    provenance: output.provenance === undefined ? null : encode(output.provenance),
    facets: output.facets === undefined ? null : encode(output.facets),
    schema_hash: output.schemaHash,
    at: output.at,
  }
}

export function toOutput(row: OutputTable, values: Values): OutputRow {
  return {
    runId: row.run_id,
    planVersion: row.plan_version,
    status: row.status as OutputRow['status'],
    schemaHash: row.schema_hash,
    at: row.at,
    ...(row.output !== null && { output: decode(row.output, values) }),
    ...(row.error !== null && { error: decode(row.error, values) }),
    ...(row.provenance !== null && { provenance: decode(row.provenance, values) }),
    ...(row.facets !== null && { facets: decode(row.facets, values) }),
  }
}

export function askRow(row: AskRow, encode: Encode): AskTable {
  const { runId, tenant, status, createdAt, resolvedAt, decision, by, note, ...ask } = row
  return {
    run_id: runId,
    request_id: row.requestId,
    tenant,
    status,
    pending_node_id: row.nodeId ?? null,
    created_at: createdAt,
    expires_at: row.expiresAt,
    resolved_at: resolvedAt ?? null,
    decision: decision ?? null,
    decided_by: by ?? null,
    note: note ?? null,
    payload: encode(ask),
  }
}

export function toAsk(row: AskTable, values: Values): AskRow {
  return {
    // What `askRow` wrote.
    ...(decode(row.payload, values) as unknown as Ask),
    runId: row.run_id,
    tenant: row.tenant,
    status: row.status as AskRow['status'],
    createdAt: row.created_at,
    ...(row.resolved_at !== null && { resolvedAt: row.resolved_at }),
    ...(row.decision !== null && { decision: row.decision }),
    ...(row.decided_by !== null && { by: row.decided_by }),
    ...(row.note !== null && { note: row.note }),
  }
}

export function auditRow(row: AuditRow): AuditTable {
  return {
    run_id: row.runId,
    seq: row.seq,
    request_id: row.requestId,
    at: row.at,
    decided_by: row.by,
    what: row.what,
    subject_hash: row.subjectHash,
    prev: row.prev,
    hash: row.hash,
  }
}

export function toAudit(row: AuditTable): AuditRow {
  return {
    runId: row.run_id,
    requestId: row.request_id,
    seq: row.seq,
    at: row.at,
    by: row.decided_by,
    what: row.what,
    subjectHash: row.subject_hash,
    prev: row.prev,
    hash: row.hash,
  }
}

export function messageRow(row: MessageRow, encode: Encode): MessageTable {
  return {
    message_id: row.messageId,
    flex_run_id: row.runId,
    tenant: row.tenant,
    seq: row.seq,
    at: row.at,
    role: row.role,
    request_id: row.requestId,
    node_id: row.nodeId ?? null,
    body: encode(row.body),
  }
}

export function toMessage(row: MessageTable, values: Values): MessageRow {
  return {
    messageId: row.message_id,
    runId: row.flex_run_id,
    tenant: row.tenant,
    seq: row.seq,
    at: row.at,
    // What `messageRow` wrote, as is the body.
    role: row.role as MessageRow['role'],
    requestId: row.request_id,
    ...(row.node_id !== null && { nodeId: row.node_id }),
    body: decode(row.body, values) as MessageRow['body'],
  }
}
