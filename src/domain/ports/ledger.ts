/**
 * The correction ledger (AROS-66): one row for every stage that changed an answer, kept apart from the runs and only where
 * somebody switched it on. It holds names and numbers, never what was changed.
 */

/** Grows when rules of the reader change what they do, so that rows from before can be told apart. */
export const coercionPolicyVersion = '1'

export interface CorrectionRow {
  readonly id: string
  /** When the attempt ended, in milliseconds since 1970. */
  readonly timestamp: number
  readonly stepName: string
  readonly agentId?: string
  readonly providerModel?: string
  /** What the answer was read toward. */
  readonly schemaHash?: string
  readonly coercionPolicyVersion: string
  readonly stage: string
  /** How many rungs had been climbed: 0 for the first answer. */
  readonly repairDepth: number
  readonly transformsApplied: readonly string[]
  /** An estimate: what asking once more would have taken, by what a call of this attempt took. Absent if it failed. */
  readonly latencyMsSaved?: number
}

export interface CorrectionQuery {
  /** Rows at or after this time. */
  readonly since?: number
  readonly stepName?: string
  /** Default 1000. */
  readonly limit?: number
}

export interface CorrectionLedger {
  /** In the order of their time. */
  list(query: CorrectionQuery): Promise<CorrectionRow[]>
}
