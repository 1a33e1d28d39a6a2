/**
 * Projects the events of one append to changed rows. Pure and shared by all stores, so that each answers `nodes`, `asks`,
 * `snapshots`, `output`, `spans`, `audit` and `messages` alike. A store passes the current rows (`Before`) and writes the
 * rows that are returned, in the transaction of the events.
 */
import type { Json } from '../../../base/json.ts'
import { corrections, type HealthAttributes } from '../../../domain/event/health-attributes.ts'
import type { EventType, JournalEvent, NewEvent } from '../../../domain/event.ts'
import { measureProgress, type PlanView } from '../../../domain/plan/progress.ts'
import { type CorrectionRow, coercionPolicyVersion } from '../../../domain/ports/ledger.ts'
import type {
  AskRow,
  AuditRow,
  MessageRow,
  OutputRow,
  SnapshotRow,
  SpanRow,
} from '../../../domain/ports/store.ts'
import {
  findNodeId,
  findTracedNode,
  isCounted,
  patched,
  type StoredNode,
  type StoredSpan,
  stepNode,
  stepSignals,
  toSpan,
} from './node-steps.ts'

export interface ProjectedRun {
  readonly runId: string
  readonly tenant: string
  readonly schemaHash: string
  readonly createdAt: number
}

/** The rows as they are before the append; `wanted` says which of them are asked for. */
export interface Before {
  /** Its row in the newest version of the plan that has it. */
  node(nodeId: string): StoredNode | undefined
  ask(requestId: string): AskRow | undefined
  /** The plan in force. */
  plan(): PlanView | undefined
}

export interface Changes {
  /** The newest row of each node, by its id. */
  readonly nodes: Map<string, StoredNode>
  /** Rows of versions that a new plan has followed within the append. */
  readonly olderNodes: StoredNode[]
  readonly asks: Map<string, AskRow>
  readonly snapshots: SnapshotRow[]
  readonly spans: StoredSpan[]
  readonly audit: AuditRow[]
  readonly messages: MessageRow[]
  /** For stores that keep a ledger of corrections. */
  readonly corrections: CorrectionRow[]
  output?: OutputRow
  /** The plan in force after the append, if it changed. */
  plan?: PlanView
}

/** The changed rows of nodes, in the order in which they are written. */
export function listNodeChanges({ olderNodes, nodes }: Changes): StoredNode[] {
  return [...olderNodes, ...nodes.values()]
}

/** The rows that `project` reads, so that a database store can fetch them first. */
export interface Wanted {
  readonly nodeIds: Set<string>
  readonly requestIds: Set<string>
  /** A snapshot is taken: all nodes and the plan. */
  everything: boolean
}

/** Events that need all nodes and the plan. */
const takesSnapshot: ReadonlySet<EventType> = new Set(['hitl_request', 'plan_generated', 'complete'])

/** Events that change the row of an ask. */
const changesAsk: ReadonlySet<EventType> = new Set(['hitl_approval', 'hitl_assigned', 'hitl_resolved'])

/** Key of a node row within one run. */
export function rowKey({ planVersion, nodeId }: Pick<StoredNode, 'planVersion' | 'nodeId'>): string {
  return `${planVersion}:${nodeId}`
}

export function wanted(events: readonly NewEvent[]): Wanted {
  const found: Wanted = { nodeIds: new Set(), requestIds: new Set(), everything: false }
  for (const event of events) {
    const nodeId = findNodeId(event) ?? findTracedNode(event)
    if (nodeId !== undefined) found.nodeIds.add(nodeId)
    if (event.type === 'plan_updated') for (const { id } of event.payload.nodes) found.nodeIds.add(id)
    if (event.type === 'nodes_reopened')
      for (const id of [...event.payload.nodes, ...event.payload.downstream]) found.nodeIds.add(id)
    if (changesAsk.has(event.type) && 'requestId' in event.payload)
      found.requestIds.add(event.payload.requestId ?? '')
    if (takesSnapshot.has(event.type)) found.everything = true
  }
  return found
}

/** `spans`: all, or only the ones that health figures count. The others follow from the events (`listSpans`). */
export function project(
  run: ProjectedRun,
  events: readonly JournalEvent[],
  before: Before,
  { spans = 'all' }: { readonly spans?: 'all' | 'counted' } = {},
): Changes {
  const changes: Changes = {
    nodes: new Map(),
    olderNodes: [],
    asks: new Map(),
    snapshots: [],
    spans: [],
    audit: [],
    messages: [],
    corrections: [],
  }
  const node = (nodeId: string) => changes.nodes.get(nodeId) ?? before.node(nodeId)
  const put = (row: StoredNode) => {
    const known = changes.nodes.get(row.nodeId)
    if (known !== undefined && known.planVersion !== row.planVersion) changes.olderNodes.push(known)
    changes.nodes.set(row.nodeId, row)
  }
  const snapshot = (event: JournalEvent) => {
    const plan = changes.plan ?? before.plan()
    if (plan !== undefined) changes.snapshots.push(takeSnapshot(event, plan, node))
  }
  for (const event of events) {
    const nodeId = findNodeId(event)
    // Read before the event that ends the attempt removes them.
    const signals = nodeId === undefined ? undefined : node(nodeId)?.signals
    if (nodeId !== undefined) {
      put(stepNode(node(nodeId) ?? unplanned(event, nodeId), event))
    }
    const tracedId = findTracedNode(event)
    const traced = tracedId === undefined ? undefined : node(tracedId)
    if (traced !== undefined) put(stepSignals(traced, event))
    const span =
      spans === 'all' || isCounted(event, signals) ? toSpan(run, event, { node, signals }) : undefined
    if (span !== undefined) changes.spans.push(span)
    if (signals !== undefined && nodeId !== undefined)
      changes.corrections.push(...findCorrections(event, node(nodeId), signals))
    switch (event.type) {
      case 'plan_generated':
        if (event.payload.plan) changes.plan = event.payload.plan
        for (const row of planRows(event, node)) put(row)
        snapshot(event)
        break
      case 'plan_updated':
        for (const { id, status } of event.payload.nodes) {
          const row = node(id) ?? unplanned(event, id)
          const kept = status === 'completed' || status === 'error' || status === 'skipped'
          put(patched(row, { status, ...(!kept && reopened) }))
        }
        break
      case 'nodes_reopened':
        for (const id of [...event.payload.nodes, ...event.payload.downstream])
          put(patched(node(id) ?? unplanned(event, id), { status: 'pending', ...reopened }))
        break
      case 'hitl_request':
        request(run, event, changes)
        changes.messages.push(toMessage(run.tenant, event))
        snapshot(event)
        break
      case 'hitl_approval':
        approve(event, changes, before)
        changes.messages.push(toMessage(run.tenant, event))
        break
      case 'hitl_assigned':
        assign(event, changes, before)
        changes.messages.push(toMessage(run.tenant, event))
        break
      case 'hitl_resolved':
        resolve(event, changes, before)
        changes.messages.push(toMessage(run.tenant, event))
        break
      case 'complete':
        changes.output = outputRow(run, event, getFacets(changes.plan ?? before.plan(), node))
        break
    }
  }
  return changes
}

/** The spans of a whole run, in the order in which the work ended. */
export function listSpans(run: ProjectedRun, events: readonly JournalEvent[]): SpanRow[] {
  const before: Before = { node: () => undefined, ask: () => undefined, plan: () => undefined }
  const { spans } = project(run, events, before)
  return lastOfEach(spans)
    .sort((one, other) => one.seq - other.seq)
    .map(({ seq: _, ...span }) => span)
}

/** Work that is done again has a span of the same id. */
export function lastOfEach<S extends { readonly spanId: string }>(spans: readonly S[]): S[] {
  return [...new Map(spans.map((span) => [span.spanId, span])).values()]
}

const reopened = { output: undefined, validation: undefined, error: undefined, endedAt: undefined } as const

/** More nodes than this in one plan would disturb the order in which rows are listed, nothing else. */
const positionsPerEvent = 100_000

function unplanned(event: JournalEvent, nodeId: string): StoredNode {
  return {
    runId: event.runId,
    nodeId,
    planVersion: event.planVersion,
    kind: 'execution',
    status: 'pending',
    attempts: 0,
    position: event.seq * positionsPerEvent,
  }
}

/**
 * The rows of a new plan version. New nodes wait; nodes of an earlier version keep their state until `plan_updated`
 * says otherwise. A run that is resumed announces its version again and keeps its rows.
 */
function planRows(
  event: JournalEvent<'plan_generated'>,
  node: (nodeId: string) => StoredNode | undefined,
): StoredNode[] {
  const { plan, planVersion } = event.payload
  return (plan?.nodes ?? []).map(({ id, kind, capabilityId, label }, index) => {
    const fresh = unplanned(event, id)
    const before = node(id)
    const position = before?.planVersion === planVersion ? before.position : fresh.position + index
    return patched(before ?? fresh, { position, planVersion, kind, capabilityId, label })
  })
}

function getFacets(
  plan: PlanView | undefined,
  node: (nodeId: string) => StoredNode | undefined,
): Json | undefined {
  return plan && measureProgress(plan, node).facets
}

function request(run: ProjectedRun, event: JournalEvent<'hitl_request'>, changes: Changes): void {
  const { audit, continues: _, ...ask } = event.payload
  const { runId, tenant } = run
  changes.asks.set(ask.requestId, { ...ask, runId, tenant, status: 'pending', createdAt: event.at })
  changes.audit.push({
    ...auditRow(event),
    requestId: ask.requestId,
    by: 'system',
    what: 'asked',
    ...audit,
  })
}

function approve(event: JournalEvent<'hitl_approval'>, changes: Changes, before: Before): void {
  const { requestId, by, audit } = event.payload
  const ask = changes.asks.get(requestId) ?? before.ask(requestId)
  if (ask !== undefined) changes.asks.set(requestId, { ...ask, approvedBy: [...(ask.approvedBy ?? []), by] })
  changes.audit.push({ ...auditRow(event), requestId, by, what: 'approve', ...audit })
}

function assign(event: JournalEvent<'hitl_assigned'>, changes: Changes, before: Before): void {
  const { requestId, change, by, assignment, expiresAt, audit } = event.payload
  const ask = changes.asks.get(requestId) ?? before.ask(requestId)
  if (ask !== undefined) changes.asks.set(requestId, { ...ask, assignment, expiresAt })
  changes.audit.push({ ...auditRow(event), requestId, by, what: change, ...audit })
}

function resolve(event: JournalEvent<'hitl_resolved'>, changes: Changes, before: Before): void {
  const { requestId, decision, by, note, audit } = event.payload
  const ask = changes.asks.get(requestId) ?? before.ask(requestId)
  if (ask !== undefined) {
    changes.asks.set(requestId, {
      ...ask,
      status: decision === 'reject' || decision === 'expired' ? 'denied' : 'resolved',
      resolvedAt: event.at,
      decision,
      by,
      ...(note !== undefined && { note }),
    })
  }
  changes.audit.push({ ...auditRow(event), requestId, by, what: decision, ...audit })
}

function auditRow({ runId, seq, at }: JournalEvent): Pick<AuditRow, 'runId' | 'seq' | 'at'> {
  return { runId, seq, at }
}

function outputRow(run: ProjectedRun, event: JournalEvent<'complete'>, facets: Json | undefined): OutputRow {
  const { status, output, error, provenance } = event.payload
  return {
    runId: run.runId,
    planVersion: event.planVersion,
    status,
    schemaHash: run.schemaHash,
    at: event.at,
    ...(output !== undefined && { output }),
    ...(facets !== undefined && { facets }),
    // Both are JSON by construction; their interfaces only lack the index signature.
    ...(error !== undefined && { error: error as unknown as Json }),
    ...(provenance !== undefined && { provenance: provenance as unknown as Json }),
  }
}

// Derives the rows of the correction ledger from the end of an attempt.

function findCorrections(
  event: JournalEvent,
  row: StoredNode | undefined,
  signals: HealthAttributes | undefined,
): CorrectionRow[] {
  if (event.type !== 'attempt_end' || signals === undefined) return []
  const { outcome, usage, model } = event.payload
  const took = event.at - (row?.attemptStartedAt ?? event.at)
  const provider = model ?? signals['aros.model_id']
  return corrections(signals).map(({ stage, transforms, depth, schemaHash }, index) => ({
    id: `${event.runId}:${event.seq}:${index}`,
    timestamp: event.at,
    stepName: event.nodeId ?? '',
    ...(row?.capabilityId !== undefined && { agentId: row.capabilityId }),
    ...(typeof provider === 'string' && { providerModel: provider }),
    ...(schemaHash !== undefined && { schemaHash }),
    coercionPolicyVersion,
    stage,
    repairDepth: depth,
    transformsApplied: transforms,
    ...(outcome === 'ok' && { latencyMsSaved: Math.round(took / Math.max(usage.calls, 1)) }),
  }))
}

// Derives messages between people and a run (FLEX-86): one for each ask and one for its resolution.

type Said = JournalEvent<'hitl_request' | 'hitl_approval' | 'hitl_assigned' | 'hitl_resolved'>

function toMessage(tenant: string, event: Said): MessageRow {
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
    role: getRole(event),
    requestId,
    ...(nodeId !== undefined && { nodeId }),
    body: getBody(event),
  }
}

/** An ask that expires has no human author. */
function getRole(event: Said): MessageRow['role'] {
  if (event.type === 'hitl_request') return 'agent'
  if (event.type === 'hitl_approval') return 'operator'
  if (event.type === 'hitl_assigned') return event.payload.change === 'overdue' ? 'system' : 'operator'
  const { decision } = event.payload
  return decision === 'expired' || decision === 'settled' || decision === 'withdrawn' ? 'system' : 'operator'
}

function getBody(event: Said): { readonly [name: string]: Json } {
  if (event.type === 'hitl_request') {
    const { kind, question, value } = event.payload
    return { kind, question, value }
  }
  if (event.type === 'hitl_approval') {
    const { by, note } = event.payload
    return { decision: 'approve', by, ...(note !== undefined && { note }) }
  }
  if (event.type === 'hitl_assigned') {
    const { change, by, note } = event.payload
    return { change, by, ...(note !== undefined && { note }) }
  }
  const { decision, by, note, value, rejectAction, grant } = event.payload
  return {
    decision,
    by,
    ...(note !== undefined && { note }),
    ...(value !== undefined && { value }),
    ...(rejectAction !== undefined && { rejectAction }),
    ...(grant !== undefined && { grant }),
  }
}

/** What a run knows at one moment: the plan, what is still to do, and the values that its nodes have supplied. */
function takeSnapshot(
  event: JournalEvent,
  plan: PlanView,
  node: (nodeId: string) => StoredNode | undefined,
): SnapshotRow {
  return {
    runId: event.runId,
    planVersion: event.planVersion,
    seq: event.seq,
    at: event.at,
    ...measureProgress(plan, node),
    // A plan is JSON by construction; its brand is a type only.
    plan: plan as unknown as Json,
  }
}
