/**
 * What an append, a claim or a release makes of a run's head: pure, so that every store decides alike.
 * The store's part is to hold the head still (a transaction, a row lock) between reading and writing it.
 */
import type { Append, AppendResult, HeadUpdate, Lease, NewRun } from '../../domain/ports/store.ts'
import type { RunHead } from '../../domain/run.ts'
import type { RunStatus } from '../../domain/status.ts'

/** What has to be known of a head to judge and to write. */
export interface HeadCore
  extends Pick<
    RunHead,
    | 'runId'
    | 'tenant'
    | 'seq'
    | 'status'
    | 'planVersion'
    | 'wakeAt'
    | 'createdAt'
    | 'updatedAt'
    | 'schemaHash'
    | 'satisfactionScore'
    | 'observedSatisfaction'
  > {
  /** Grows with every claim and never shrinks, so that an old holder can be told from the new one. */
  readonly epoch: number
  /** Absent while nobody holds the run. */
  readonly owner?: string
  readonly leaseUntil?: number
}

/** The head as stores keep it: with the lease. */
export interface StoredHead extends RunHead, HeadCore {}

/** The ways in which a run can be over. */
export const overStatuses = ['completed', 'failed', 'cancelled'] as const satisfies readonly RunStatus[]
const finished: ReadonlySet<RunStatus> = new Set(overStatuses)

export function firstHead(run: NewRun, now: number): StoredHead {
  const start = run.events.find((event) => event.type === 'start')?.payload
  const head: StoredHead = {
    runId: run.runId,
    tenant: run.tenant,
    seq: run.events.length,
    createdAt: now,
    updatedAt: now,
    objective: start?.envelope.objective ?? '',
    schemaHash: start?.schemaHash ?? '',
    correlationId: start?.correlationId ?? '',
    ...(start?.threadId !== undefined && { threadId: start.threadId }),
    ...update(run.head),
    epoch: 0,
  }
  return run.claim === undefined ? head : claimed(head, run.claim, now)
}

/** Why an append is refused; `undefined` if it is not. A lost lease is told before a lost race. */
export function refusal(head: HeadCore | undefined, append: Append): AppendResult | undefined {
  if (head === undefined) return { kind: 'missing' }
  if (append.lease !== undefined && !holds(head, append.lease)) return { kind: 'fenced' }
  if (head.seq !== append.expectedSeq) return { kind: 'conflict', seq: head.seq }
  return undefined
}

export function appended<H extends HeadCore>(head: H, append: Append, now: number): H {
  const next: Writable<H> = append.release === true ? released(head) : { ...head }
  delete next.wakeAt
  return Object.assign(next, { seq: head.seq + append.events.length, updatedAt: now }, update(append.head))
}

export function holds(head: HeadCore, lease: Lease): boolean {
  return head.owner === lease.owner && head.epoch === lease.epoch
}

export function claimed(
  head: StoredHead,
  { owner, leaseMs }: { owner: string; leaseMs: number },
  now: number,
): StoredHead {
  return { ...head, owner, epoch: head.epoch + 1, leaseUntil: now + leaseMs }
}

export function released<H extends HeadCore>(head: H): H {
  const free: Writable<H> = { ...head }
  delete free.owner
  delete free.leaseUntil
  return free
}

type Writable<H> = { -readonly [K in keyof H]: H[K] }

/**
 * From when on `claim` may give the run away: when its time comes if nobody holds it, when the lease runs out otherwise
 * (a holder gives back a run that only waits, so one that is still held was in the middle of something). Never, once it is over.
 */
export function dueAt(head: HeadCore): number | undefined {
  if (finished.has(head.status)) return undefined
  return head.owner === undefined ? head.wakeAt : head.leaseUntil
}

export function publicHead({ epoch: _, owner: __, leaseUntil: ___, ...head }: StoredHead): RunHead {
  return head
}

/** Scores that an append does not name stay as they are; a time to wake that it does not name is gone. */
function update(head: HeadUpdate): HeadUpdate {
  return {
    status: head.status,
    planVersion: head.planVersion,
    ...(head.wakeAt !== undefined && { wakeAt: head.wakeAt }),
    ...(head.satisfactionScore !== undefined && { satisfactionScore: head.satisfactionScore }),
    ...(head.observedSatisfaction !== undefined && { observedSatisfaction: head.observedSatisfaction }),
  }
}
