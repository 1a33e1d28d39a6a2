/**
 * Computes a run's head after an append, a claim or a release. Pure, so that every store decides alike; the store must lock
 * the head (transaction, row lock) between reading and writing it.
 */

import { joined } from '../../../base/json.ts'
import { getPlacement, getPriority } from '../../../domain/placement.ts'
import type { Append, AppendResult, Lease, NewRun } from '../../../domain/ports/store.ts'
import type { RunHead } from '../../../domain/run.ts'
import { isTerminal } from '../../../domain/status.ts'

/** Absent members may be there as `undefined`, so that all heads have one shape: they are copied with every append. */
type Kept<T> = { readonly [K in keyof T]: object extends Pick<T, K> ? T[K] | undefined : T[K] }

/** The part of a head that decisions need. */
export interface HeadCore
  extends Pick<
    Kept<RunHead>,
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
    | 'costUsd'
    | 'tokens'
  > {
  /** Fencing token: grows with every claim and never shrinks, so that a previous holder can be distinguished from the new one. */
  readonly epoch: number
  /** Absent while the run is not claimed. */
  readonly owner?: string | undefined
  readonly leaseUntil?: number | undefined
}

/** The head as stores keep it: with the lease. */
export interface StoredHead extends Kept<RunHead>, HeadCore {}

export function firstHead(run: NewRun, now: number): StoredHead {
  const start = run.events.find((event) => event.type === 'start')?.payload
  const pipeline = start?.envelope.metadata?.['pipeline']
  const priority = getPriority(start?.envelope)
  const head: StoredHead = {
    runId: run.runId,
    tenant: run.tenant,
    seq: run.events.length,
    createdAt: now,
    updatedAt: now,
    objective: start?.envelope.objective ?? '',
    schemaHash: start?.schemaHash ?? '',
    correlationId: start?.correlationId ?? '',
    pipeline: typeof pipeline === 'string' ? pipeline : undefined,
    threadId: start?.threadId,
    priority: priority === 'normal' ? undefined : priority,
    placement: getPlacement(start?.envelope),
    status: run.head.status,
    planVersion: run.head.planVersion,
    wakeAt: run.head.wakeAt,
    satisfactionScore: run.head.satisfactionScore,
    observedSatisfaction: run.head.observedSatisfaction,
    costUsd: run.head.costUsd,
    tokens: run.head.tokens,
    owner: undefined,
    leaseUntil: undefined,
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
  const next: Changing<H> = append.release === true ? released(head) : { ...head }
  const { status, planVersion, wakeAt, satisfactionScore, observedSatisfaction, costUsd, tokens } =
    append.head
  next.seq = head.seq + append.events.length
  next.updatedAt = now
  next.status = status
  next.planVersion = planVersion
  // Scores and amounts that an append does not name are kept; a wake-up time that it does not name is removed.
  next.wakeAt = wakeAt
  if (satisfactionScore !== undefined) next.satisfactionScore = satisfactionScore
  if (observedSatisfaction !== undefined) next.observedSatisfaction = observedSatisfaction
  if (costUsd !== undefined) next.costUsd = costUsd
  if (tokens !== undefined) next.tokens = tokens
  return next
}

/** Whether a run gives up its placement: ending a cancelled run calls nothing, so any process may do it. */
export function givesUpPlacement(events: Append['events']): boolean {
  return events.some(({ type }) => type === 'cancel_requested')
}

type Changing<H extends HeadCore> = { -readonly [K in keyof H]: H[K] }

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
  return { ...head, owner: undefined, leaseUntil: undefined }
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
  // Only optional members may be absent.
  return withoutAbsent(head) as RunHead
}

/** Leaves out members that are `undefined`. */
export function withoutAbsent<T extends object>(row: T): T {
  // What is left out is optional.
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== undefined)) as T
}
