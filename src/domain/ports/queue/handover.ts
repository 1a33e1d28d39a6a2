/**
 * Part of the port to a store that several processes share: taking over the run of a process that died before its lease
 * expires. For queues that notice such a death themselves, as Restate does. The process that has the lease is asked for a sign
 * of life first, so that only a run whose owner does not answer changes hands; the new lease has a higher epoch, which fences
 * a former owner that was only frozen.
 */
import type { Claim, Lease } from './lease.ts'

/** A lease that has not expired. */
export interface HeldLease extends Lease {
  /** When it expires, by the store's clock; every renewal changes it. */
  readonly until: number
}

/** A run that could be claimed, and was not. */
export interface LateRun {
  readonly runId: string
  /** Since when, by the store's clock: its time, or the end of an expired lease. */
  readonly dueAt: number
}

export interface Handover {
  /** The lease of a run; `undefined` if it has none, or an expired one. */
  findLease(runId: string): Promise<HeldLease | undefined>
  /** Asks the owner of the lease to renew it at once. Returns before it has. */
  challenge(runId: string): void
  /** Claims the run if its lease is still exactly this one: no renewal, release or other claim since. */
  takeOver(request: {
    readonly runId: string
    readonly owner: string
    readonly leaseMs: number
    readonly from: HeldLease
  }): Promise<Claim | undefined>
  /** Runs that have been due for at least so long, the oldest first. */
  listLate(request: { readonly lateMs: number; readonly limit: number }): Promise<readonly LateRun[]>
}
