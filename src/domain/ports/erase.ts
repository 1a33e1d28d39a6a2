/** Erasure of runs: what a store deletes, and what it reports about it. */
import type { TerminalStatus } from '../status.ts'

export interface Erase {
  /** Runs that are over; others are left alone. */
  readonly runIds: readonly string[]
  /** For the operations audit, which keeps one row for each run. */
  readonly by: string
  readonly receiptId: string
  /** Only report what would be deleted. Default false. */
  readonly dryRun?: boolean
}

/** An erased run, as the operations audit keeps it (tombstone). */
export interface ErasedRun {
  readonly runId: string
  readonly tenant: string
  readonly status: TerminalStatus
  readonly events: number
  /** Last hash of the audit chain of the run's asks; empty if there were none. */
  readonly auditHead: string
}

export interface Erased {
  readonly runs: readonly ErasedRun[]
  readonly events: number
  /** Large values that only these runs used. */
  readonly values: number
  /** Large values that these runs used and others still use: they stay. */
  readonly sharedValues: number
  /** Stored answers to requests with an Idempotency-Key about these runs. */
  readonly answers: number
  /** Where bytes of the runs may remain, and what to do about it; empty if they are gone from the store's files. */
  readonly residue: readonly string[]
}

export interface SubjectQuery {
  /** As in `metadata.subject` of the envelope. */
  readonly subject: string
  readonly tenant?: string
}
