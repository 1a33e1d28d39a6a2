/**
 * Computes a run's head after an append, a claim or a release. Pure, so that every store decides alike; the store must lock
 * the head (transaction, row lock) between reading and writing it.
 */

import { joined } from '../../../base/json.ts'
import type { Append, AppendResult, HeadUpdate, Lease, NewRun } from '../../../domain/ports/store.ts'
import type { RunHead } from '../../../domain/run.ts'
import { isTerminal } from '../../../domain/status.ts'

/** The part of a head that decisions need. */
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
  /** Fencing token: grows with every claim and never shrinks, so that a previous holder can be distinguished from the new one. */
  readonly epoch: number
  /** Absent while the run is not claimed. */
  readonly owner?: string
  readonly leaseUntil?: number
}

/** The head as stores keep it: with the lease. */
export interface StoredHead extends RunHead, HeadCore {}

export function firstHead(run: NewRun, now: number): StoredHead {
  const start = run.events.find((event) => event.type === 'start')?.payload
  const pipeline = start?.envelope.metadata?.['pipeline']
  const head: StoredHead = {
    runId: run.runId,
    tenant: run.tenant,
    seq: run.events.length,
    createdAt: now,
    updatedAt: now,
    objective: start?.envelope.objective ?? '',
    schemaHash: start?.schemaHash ?? '',
    correlationId: start?.correlationId ?? '',
    ...(typeof pipeline === 'string' && { pipeline }),
    ...(start?.threadId !== undefined && { threadId: start.threadId }),
    ...update(run.head),
    epoch: 0,
  }
  return run.claim === undefined ? head : claimed(head, run.claim, now)
}

/** Returns why an append is refused; `undefined` if it is accepted. A lost lease is reported before a conflict. */
export function refusal(head: HeadCore | undefined, append: Append): AppendResult | undefined {
  if (head === undefined) return { kind: 'missing' }
  if (append.lease !== undefined && !holds(head, append.lease)) return { kind: 'fenced' }
  if (head.seq !== append.expectedSeq) return { kind: 'conflict', seq: head.seq }
  return undefined
}

export function appended<H extends HeadCore>(head: H, append: Append, now: number): H {
  // Omitted instead of deleted: `delete` makes objects slow.
  const { wakeAt: _, ...next } = append.release === true ? released(head) : head
  const progress = { seq: head.seq + append.events.length, updatedAt: now }
  // A time to wake is optional, and the rest is there.
  return Object.assign(next, progress, update(append.head)) as unknown as H
}

export function holds(head: HeadCore, lease: Lease): boolean {
  return head.owner === lease.owner && head.epoch === lease.epoch
}

export function claimed(
  head: StoredHead,
  { owner, leaseMs }: { owner: string; leaseMs: number },
  now: number,
): StoredHead {
  return joined(head, { owner, epoch: head.epoch + 1, leaseUntil: now + leaseMs })
}

export function released<H extends HeadCore>(head: H): H {
  const { owner: _, leaseUntil: __, ...free } = head
  // Both are optional.
  return free as unknown as H
}

/**
 * Returns when `claim` may assign the run: at its due time if it is not claimed, else when its lease expires (a holder
 * releases a run that only waits, so a run that is still held was in progress). `undefined` once it is over.
 */
export function dueAt(head: HeadCore): number | undefined {
  if (isTerminal(head.status)) return undefined
  return head.owner === undefined ? head.wakeAt : head.leaseUntil
}

export function publicHead({ epoch: _, owner: __, leaseUntil: ___, ...head }: StoredHead): RunHead {
  return head
}

/** Scores that an append does not name are kept; a wake-up time that it does not name is removed. */
function update(head: HeadUpdate): HeadUpdate {
  return {
    status: head.status,
    planVersion: head.planVersion,
    ...(head.wakeAt !== undefined && { wakeAt: head.wakeAt }),
    ...(head.satisfactionScore !== undefined && { satisfactionScore: head.satisfactionScore }),
    ...(head.observedSatisfaction !== undefined && { observedSatisfaction: head.observedSatisfaction }),
  }
}
