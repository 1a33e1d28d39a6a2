/**
 * Port to a store. The journal is the source of truth: all other tables are projections, written in the same transaction as
 * the events of an append. All implementations pass `testing/store-suite.ts`.
 */
import type { Json } from '../../base/json.ts'
import type { Ask } from '../ask.ts'
import type { JournalEvent, NewEvent } from '../event.ts'
import type { RunHead } from '../run.ts'
import type { RunStatus, TerminalStatus } from '../status.ts'
import type { NewDocument } from './documents.ts'
import type { Erase, Erased, SubjectQuery } from './erase.ts'
import type { CorrectionLedger } from './ledger.ts'
import type { Handover } from './queue/handover.ts'
import type { Claim, Lease } from './queue/lease.ts'
import type { Records } from './records.ts'
import type { Sample, SampleQuery } from './sample.ts'

export type { Claim, Lease } from './queue/lease.ts'

/** The new head after an append; the store adds sequence number and times. */
export interface HeadUpdate {
  readonly status: RunStatus
  readonly planVersion: number
  readonly wakeAt?: number
  readonly satisfactionScore?: number
  readonly observedSatisfaction?: number
  /** What the run has used so far; absent while it is zero or unknown. */
  readonly costUsd?: number
  readonly tokens?: number
}

export interface NewRun {
  readonly runId: string
  readonly tenant: string
  readonly events: readonly NewEvent[]
  readonly head: HeadUpdate
  /** If given, the run is created with a lease of this owner. */
  readonly claim?: { readonly owner: string; readonly leaseMs: number }
  /** Documents of the run to add in the same transaction, such as notices to send; documents that exist stay as they are. */
  readonly documents?: readonly NewDocument[]
}

export interface Append {
  readonly runId: string
  /** Sequence number of the last event that the caller has read (compare-and-set). */
  readonly expectedSeq: number
  readonly events: readonly NewEvent[]
  readonly head: HeadUpdate
  /** The writer's lease; absent for replies, cancellations and resumptions, which need no lease. */
  readonly lease?: Lease
  /** Releases the lease in the same transaction: the run waits or is over. */
  readonly release?: boolean
  /** As in `NewRun`. */
  readonly documents?: readonly NewDocument[]
  /**
   * The writer sends nothing out of the process because of this append: all that follows it are calls of idempotent functions
   * here, and appends. The store may answer `appended` (no other result) when the death of this process cannot undo the append,
   * and before a power failure cannot; the result then has `durable`. What the append wrote is shown to no reader and no
   * listener before it is on the disk, and no later write without this is answered before. A store may ignore it, and does if
   * it is a server: it may lose its last writes while this process lives on.
   */
  readonly canBeAhead?: boolean
}

/**
 * Called when a run has grown to this sequence number; 0: it was only released. `isFree`: another process released it, or
 * wrote it without a lease, so it waits for a process that claims it. `isSettled`: it has ended or waits for a person;
 * `undefined`: not known.
 */
export type ChangeListener = (runId: string, seq: number, isFree?: boolean, isSettled?: boolean) => void

/** `conflict`: another writer appended first; `fenced`: another process has the lease. In both cases nothing was written. */
export type AppendResult =
  | {
      readonly kind: 'appended'
      readonly seq: number
      /** Resolves when it is on the disk, and never if it cannot be acknowledged. Absent: it is. Only with `canBeAhead`. */
      readonly durable?: Promise<void>
    }
  | { readonly kind: 'conflict'; readonly seq: number }
  | { readonly kind: 'fenced' }
  | { readonly kind: 'missing' }

/** A run whose lease was renewed, and the sequence number of its last event. */
interface HeldRun {
  readonly runId: string
  readonly seq: number
}

export interface RunQuery {
  readonly tenant?: string
  readonly status?: readonly RunStatus[]
  readonly threadId?: string
  /** Only runs whose objective, pipeline or id contains this text; the case of ASCII letters does not matter. */
  readonly search?: string
  /** Only runs that have cost at least, or at most, this much so far; a run without a known cost counts as 0. */
  readonly minCostUsd?: number
  readonly maxCostUsd?: number
  /** Only runs in which this node has called a model, or in which this model was called; with both, by the same attempt. */
  readonly nodeId?: string
  readonly model?: string
  readonly limit?: number
  /** The order: newest first (default), or the most expensive first. */
  readonly sort?: 'created' | 'cost'
  /** Runs after this one in the order, for paging. */
  readonly before?: string
}

export interface ThreadQuery {
  readonly tenant: string
  /** Default 100. */
  readonly limit?: number
  /** Threads after this one in the order, for paging. */
  readonly before?: Pick<ThreadRow, 'updatedAt' | 'threadId'>
}

/** The runs of a tenant with one `threadId`. */
export interface ThreadRow {
  readonly threadId: string
  readonly runs: number
  /** When its first run was created, and when one of them last changed. */
  readonly createdAt: number
  readonly updatedAt: number
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
  /** Who has approved so far, where several people must; the last one is `by`. */
  readonly approvedBy?: readonly string[]
}

export interface AskQuery {
  readonly tenant?: string
  readonly runId?: string
  readonly status?: AskRow['status']
  readonly limit?: number
  /** Asks younger than this one (by creation, then id), for paging. */
  readonly after?: string
}

/** One node in one version of the plan. A new version has its own rows; the rows of earlier versions do not change. */
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
  /** Whether the last output satisfied the contract; absent before the first output. */
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
  readonly status: TerminalStatus
  readonly output?: Json
  readonly error?: Json
  readonly provenance?: Json
  /** Values by facet or property at the end. */
  readonly facets?: Json
  readonly schemaHash: string
  readonly at: number
}

/** A trace span, kept for health reports and telemetry. */
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

/** One audit row: who decided what, in a hash chain. */
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

/** A message between people and a run. */
export interface MessageRow {
  readonly messageId: string
  readonly runId: string
  readonly tenant: string
  /** Sequence number of its event. */
  readonly seq: number
  readonly at: number
  /** `agent` asks, `operator` decides, `system` reports that an ask expired. */
  readonly role: 'agent' | 'operator' | 'system'
  /** The ask of the message. */
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
  /** Only runs of tenants other than these. */
  readonly exceptTenants?: readonly string[]
  /** Only runs with one of these statuses. Default: all that are over. */
  readonly status?: readonly TerminalStatus[]
  /** Only count what would be deleted. Default false. */
  readonly dryRun?: boolean
}

/** What was deleted, or would be. */
export interface Pruned {
  readonly runs: number
  readonly events: number
  /** Large values without references; 0 in a store that does not store them separately. */
  readonly values: number
}

/** An acknowledged commit that is not in the store, or not as it was. */
export interface AnchorProblem {
  readonly code: 'anchor/lost' | 'anchor/other-file' | 'anchor/other-history' | 'anchor/count'
  readonly message: string
  /** Runs that lost acknowledged events, as far as they are known. */
  readonly runs: readonly string[]
}

/** The store compared with its anchor: the count and hash of the last acknowledged commit, kept outside of the database. */
export interface AnchorCheck {
  /** `absent`: no anchor is kept, so lost commits cannot be noticed. */
  readonly state: 'ok' | 'lost' | 'absent'
  /** The last acknowledged commit, its time, its hash, and the runs and events that the store had after it. */
  readonly commit?: number
  readonly at?: number
  readonly head?: string
  readonly runs?: number
  readonly events?: number
  readonly problems: readonly AnchorProblem[]
}

/** What a tenant has stored, and what its attempts used. */
export interface TenantUsage {
  /** Characters of events and large values. */
  readonly stored: number
  /** Tokens of attempts that ended at or after `from`, in and out. */
  readonly tokens: number
  readonly costUsd: number
}

/** What waits in the store, and who works on it; of all tenants. */
export interface QueueStatus {
  /** The time, by the store's clock. */
  readonly now: number
  /** Runs that are not over, by status. */
  readonly runs: Readonly<Partial<Record<RunStatus, number>>>
  /** Runs that could be claimed now and are not. */
  readonly due: number
  /** The runs that have waited longest, earliest first, at most 10. */
  readonly oldestDue: readonly { readonly runId: string; readonly tenant: string; readonly dueAt: number }[]
  /** Owners of leases, most runs first. `expired`: runs whose lease has ended: the owner is dead or late. */
  readonly leases: readonly { readonly owner: string; readonly runs: number; readonly expired: number }[]
}

/** Encrypting the sealed secrets of runs with the newest key. */
export interface ResealRuns {
  /** Only runs of this tenant. Default: all. */
  readonly tenant?: string
  /** Only count. Default false. */
  readonly dryRun?: boolean
  /** Called now and then with what is done so far. */
  readonly onProgress?: (done: ResealedRuns) => void
}

/** Replacing references in the rows of runs: `[sealed:v1.KEY-ID.CIPHERTEXT]`. */
export interface ReplaceReferences extends ResealRuns {
  /** References that begin so, up to the key id, are replaced. */
  readonly beginnings: readonly string[]
  /** Returns the reference for the same secret, or the given one if it cannot be opened. It has the same length. */
  readonly replace: (runId: string, reference: string) => string
  /** Ids of all keys that open references. With it, what other keys have sealed is then counted. */
  readonly knownKeys?: readonly string[]
}

/** A key that is not known, and what is sealed with it. */
export interface UnknownKey {
  readonly keyId: string
  readonly runs: number
  /** Stored responses, and calls and messages that wait. */
  readonly rows: number
}

export interface ResealedRuns {
  /** Runs with at least one such reference that were rewritten, or would be. */
  readonly runs: number
  /** Runs that a process is executing: they are left alone, and need another call later. */
  readonly underWay: number
  /** `runs` by tenant. */
  readonly tenants: Readonly<Record<string, number>>
  /** Only with `knownKeys`. */
  readonly unknownKeys?: readonly UnknownKey[]
}

export interface Store {
  readonly name: string
  /** Creates the run with its first events (sequence from 1); `false` if the id is taken. */
  create(run: NewRun): Promise<Lease | true | false>
  append(append: Append): Promise<AppendResult>
  /** Events after a sequence number, in order. Limit default 1000. */
  read(runId: string, after: number, limit?: number): Promise<JournalEvent[]>
  /**
   * Events after a sequence number that this process has just appended, from memory: at least one, and a beginning of what
   * `read` returns. `undefined` if there are none, or the store keeps none; then `read` has to be asked. For streams.
   */
  readRecent?(runId: string, after: number, limit?: number): JournalEvent[] | undefined
  head(runId: string): Promise<RunHead | undefined>
  runs(query: RunQuery): Promise<RunHead[]>
  /** The threads of a tenant, last changed first. */
  threads(query: ThreadQuery): Promise<ThreadRow[]>

  /** Claims due runs that have no lease, or an expired one, by the store's clock: those of high priority first, then the earliest. */
  claim(request: {
    owner: string
    leaseMs: number
    limit: number
    runId?: string
    /** Run ids to skip. */
    except?: readonly string[]
    /** Tenants to skip. */
    exceptTenants?: readonly string[]
    /** Only runs without a placement, or with one of these. Default: all. */
    placements?: readonly string[]
  }): Promise<Claim[]>
  /**
   * Renews an owner's leases on these runs and returns the runs that are still held, with the sequence number of their last
   * event. Other runs are not renewed: a lease whose grant never reached the owner (the response to a claim was lost) has to
   * expire.
   */
  renew(request: { owner: string; leaseMs: number; runIds: readonly string[] }): Promise<HeldRun[]>
  release(runId: string, lease: Lease): Promise<void>
  /** Takes over runs before their lease expires. Absent: a store of one process. */
  readonly handover?: Handover
  /** Returns the earliest time at which `claim` could return a run; pollers sleep until then. */
  nextWake(given?: {
    except?: readonly string[]
    placements?: readonly string[]
  }): Promise<number | undefined>
  /** Subscribes to appends of this process and, if the store supports it, of others. A hint only: listeners read the journal. */
  onChange(listener: ChangeListener): () => void

  /** Oldest first. */
  asks(query: AskQuery): Promise<AskRow[]>
  ask(requestId: string): Promise<AskRow | undefined>
  nodes(runId: string): Promise<NodeRow[]>
  snapshots(runId: string): Promise<SnapshotRow[]>
  output(runId: string): Promise<OutputRow | undefined>
  spans(runId: string): Promise<SpanRow[]>
  audit(runId: string): Promise<AuditRow[]>
  /** Messages in order; the newest ones if there are more than the limit (default 200). */
  messages(runId: string, limit?: number): Promise<MessageRow[]>
  /** Aggregates attempts that called a model, for health figures. */
  sample(query: SampleQuery): Promise<Sample>

  /**
   * Replaces references in all rows of runs that no process is executing, run by run: an interrupted call leaves whole runs,
   * and the next one continues. Absent: a store that keeps no sealed secrets.
   */
  replaceReferences?(request: ReplaceReferences): Promise<ResealedRuns>
  /** The same with the keys of an app, which alone knows them; recorded in the operations audit under `by`. */
  resealRuns?(request: ResealRuns & { readonly by: string }): Promise<ResealedRuns>
  /** What waits, and who has leases, for operators. Absent: the store cannot say. */
  inspectQueue?(): Promise<QueueStatus>
  /** Adds up what a tenant has stored and used, for quotas; a store without it has no such quotas. `from`: milliseconds since 1970. */
  usage?(query: { readonly tenant: string; readonly from: number }): Promise<TenantUsage>

  /**
   * Deletes runs that are over (completed, failed or cancelled) and were last changed before a time, with all their rows, and
   * large values without references. Works in bounded batches: an interrupted call leaves whole runs, and the next call
   * continues.
   */
  prune(request: Prune): Promise<Pruned>

  /** Ids of the runs whose envelope names a subject (`metadata.subject`). Reads the first event of every run. */
  findRunsAbout(query: SubjectQuery): Promise<string[]>
  /**
   * Erases runs that are over, of any age: all their rows, large values that no other run uses, stored answers to requests
   * about them, and their bytes in the files of the store. Each leaves a row in the operations audit. An interrupted call
   * leaves whole runs; call it again.
   */
  erase(request: Erase): Promise<Erased>

  /** Absent unless enabled when the store was opened. */
  readonly ledger?: CorrectionLedger

  /** Where a key that seals secrets may be kept if none is configured. Absent: the store has no place beside its data. */
  readonly keyFile?: string

  /** Tokens, registrations and idempotency keys. */
  readonly records: Records

  /**
   * Checks that the store can acknowledge writes: writes a little and syncs it. Rejects with the reason. Absent: a store
   * without a disk.
   */
  probe?(): Promise<void>
  /** Compares the store with its anchor. Absent: the store keeps none. */
  checkAnchor?(): Promise<AnchorCheck>

  close(): Promise<void>
}
