/**
 * The port to a store. The journal is the truth: everything else a store keeps is derived from the events of one append in
 * the same transaction. All implementations pass `testing/store-suite.ts`.
 */
import type { Json } from '../../base/json.ts'
import type { Ask } from '../ask.ts'
import type { JournalEvent, NewEvent } from '../event.ts'
import type { RunHead } from '../run.ts'
import type { RunStatus } from '../status.ts'
import type { CorrectionLedger } from './ledger.ts'
import type { Records } from './records.ts'
import type { Sample, SampleQuery } from './sample.ts'

/** What the head becomes with an append; the store adds sequence and times. */
export interface HeadUpdate {
  readonly status: RunStatus
  readonly planVersion: number
  readonly wakeAt?: number
  readonly satisfactionScore?: number
  readonly observedSatisfaction?: number
}

export interface Lease {
  readonly owner: string
  /** Grows with every change of owner; an append with an old one is refused. */
  readonly epoch: number
}

export interface NewRun {
  readonly runId: string
  readonly tenant: string
  readonly events: readonly NewEvent[]
  readonly head: HeadUpdate
  /** Claimed at once for this owner, if given. */
  readonly claim?: { readonly owner: string; readonly leaseMs: number }
}

export interface Append {
  readonly runId: string
  /** The sequence number of the last event that the caller has seen. */
  readonly expectedSeq: number
  readonly events: readonly NewEvent[]
  readonly head: HeadUpdate
  /** The writer's lease; absent for replies, cancellations and resumptions, which anybody may append. */
  readonly lease?: Lease
  /** Give the lease back in the same transaction: the run waits or is over. */
  readonly release?: boolean
}

/** `conflict`: somebody appended first; `fenced`: the lease is another's; nothing was written in either case. */
export type AppendResult =
  | { readonly kind: 'appended'; readonly seq: number }
  | { readonly kind: 'conflict'; readonly seq: number }
  | { readonly kind: 'fenced' }
  | { readonly kind: 'missing' }

export interface Claim {
  readonly runId: string
  readonly lease: Lease
}

export interface RunQuery {
  readonly tenant?: string
  readonly status?: readonly RunStatus[]
  readonly threadId?: string
  readonly limit?: number
  /** Runs older than this one (by creation, then id), for paging. */
  readonly before?: string
}

export interface AskRow extends Ask {
  readonly runId: string
  readonly tenant: string
  readonly status: 'pending' | 'resolved' | 'denied'
  readonly createdAt: number
  readonly resolvedAt?: number
  readonly decision?: string
  readonly by?: string
  readonly note?: string
}

export interface AskQuery {
  readonly tenant?: string
  readonly runId?: string
  readonly status?: AskRow['status']
  readonly limit?: number
  /** Asks younger than this one (by creation, then id), for paging. */
  readonly after?: string
}

/** One node in one version of the plan. A new version has rows of its own; those of earlier versions stay as they were. */
export interface NodeRow {
  readonly runId: string
  readonly nodeId: string
  readonly planVersion: number
  readonly capabilityId?: string
  readonly kind: string
  readonly label?: string
  readonly status: string
  readonly attempts: number
  /** SHA-256 of the inputs of the last attempt, as canonical JSON. */
  readonly contextHash?: string
  /** Whether the last output satisfied the contract; absent before there is one. */
  readonly validation?: 'valid' | 'invalid'
  readonly output?: Json
  readonly error?: Json
  readonly startedAt?: number
  readonly endedAt?: number
}

export interface SnapshotRow {
  readonly runId: string
  readonly planVersion: number
  readonly seq: number
  readonly at: number
  readonly pendingNodeIds: readonly string[]
  readonly plan: Json
  /** Values by facet or property at that moment. */
  readonly facets: Json
}

export interface OutputRow {
  readonly runId: string
  readonly planVersion: number
  readonly status: 'completed' | 'failed' | 'cancelled'
  readonly output?: Json
  readonly error?: Json
  readonly provenance?: Json
  /** Values by facet or property at the end. */
  readonly facets?: Json
  readonly schemaHash: string
  readonly at: number
}

/** One timed piece of work, kept for health reports and telemetry. */
export interface SpanRow {
  readonly runId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly startedAt: number
  readonly endedAt: number
  readonly status: string
  readonly attributes: { readonly [key: string]: Json }
}

/** One row of the audit: who decided what, chained by hash. */
export interface AuditRow {
  readonly runId: string
  readonly requestId: string
  readonly seq: number
  readonly at: number
  readonly by: string
  readonly what: string
  readonly subjectHash: string
  readonly prev: string
  readonly hash: string
}

/** Something that was said between people and a run. */
export interface MessageRow {
  readonly messageId: string
  readonly runId: string
  readonly tenant: string
  /** The event that it was said with. */
  readonly seq: number
  readonly at: number
  /** `agent` asks, `operator` decides, `system` says that nobody did in time. */
  readonly role: 'agent' | 'operator' | 'system'
  /** The ask that it is about. */
  readonly requestId: string
  readonly nodeId?: string
  /** Of an ask: `kind`, `question` and the `value` that is shown. Of a reply: `decision`, `by`, and `note` and `value` if given. */
  readonly body: { readonly [name: string]: Json }
}

export interface Prune {
  /** Runs that were last changed before this time, in milliseconds since 1970 by the store's clock. */
  readonly before: number
  /** Only runs of this tenant. */
  readonly tenant?: string
  /** Only say what would go. Default false. */
  readonly dryRun?: boolean
}

/** What went, or would go. */
export interface Pruned {
  readonly runs: number
  readonly events: number
  /** Large values that no run refers to any more; 0 in a store that keeps none apart. */
  readonly values: number
}

export interface Store {
  readonly name: string
  /** Creates the run with its first events (sequence from 1); `false` if the id is taken. */
  create(run: NewRun): Promise<Lease | true | false>
  append(append: Append): Promise<AppendResult>
  /** Events after a sequence number, in order. Limit default 1000. */
  read(runId: string, after: number, limit?: number): Promise<JournalEvent[]>
  head(runId: string): Promise<RunHead | undefined>
  runs(query: RunQuery): Promise<RunHead[]>

  /** Takes runs whose time has come and that nobody holds, or whose holder's lease ran out; by the store's own clock. */
  claim(request: {
    owner: string
    leaseMs: number
    limit: number
    runId?: string
    /** Runs that are left to others. */
    except?: readonly string[]
  }): Promise<Claim[]>
  /**
   * Prolongs an owner's leases on these runs; the ids of those still held. Runs that are not named are not prolonged: a
   * lease whose grant was never heard of (the answer to a claim was lost) has to run out.
   */
  renew(request: { owner: string; leaseMs: number; runIds: readonly string[] }): Promise<string[]>
  release(runId: string, lease: Lease): Promise<void>
  /** The earliest time at which `claim` could give something, for whoever sleeps until then. */
  nextWake(given?: { except?: readonly string[] }): Promise<number | undefined>
  /** Something was appended, by this process or (where the store can tell) another. Only wakes; the truth is read. */
  onChange(listener: (runId: string, seq: number) => void): () => void

  /** The oldest first. */
  asks(query: AskQuery): Promise<AskRow[]>
  ask(requestId: string): Promise<AskRow | undefined>
  nodes(runId: string): Promise<NodeRow[]>
  snapshots(runId: string): Promise<SnapshotRow[]>
  output(runId: string): Promise<OutputRow | undefined>
  spans(runId: string): Promise<SpanRow[]>
  audit(runId: string): Promise<AuditRow[]>
  /** What people and the run have said to each other, in order; of more than the limit (default 200) the newest. */
  messages(runId: string, limit?: number): Promise<MessageRow[]>
  /** Attempts that called a model, added up for health figures. */
  sample(query: SampleQuery): Promise<Sample>

  /**
   * Deletes runs that are over (completed, failed or cancelled) and were last changed before a time, with everything that
   * belongs to them, and large values without references. In bounded pieces: one that is interrupted leaves
   * whole runs behind, and the next call goes on.
   */
  prune(request: Prune): Promise<Pruned>

  /** Absent unless the store was opened with it. */
  readonly ledger?: CorrectionLedger

  /** What a server keeps beside the runs. */
  readonly records: Records

  close(): Promise<void>
}
