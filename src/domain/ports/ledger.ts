/**
 * The correction ledger (AROS-66): one row for every stage that changed an answer, stored separately from the runs and only
 * if enabled. It holds names and numbers, never the changed values.
 */

/** Incremented when rules of the reader change, so that earlier rows can be distinguished. */
export const coercionPolicyVersion = '1'

export interface CorrectionRow {
  readonly id: string
  /** When the attempt ended, in milliseconds since 1970. */
  readonly timestamp: number
  readonly stepName: string
  readonly agentId?: string
  readonly providerModel?: string
  /** Hash of the schema of the answer. */
  readonly schemaHash?: string
  readonly coercionPolicyVersion: string
  readonly stage: string
  /** Number of fallback steps taken before; 0 for the first answer. */
  readonly repairDepth: number
  readonly transformsApplied: readonly string[]
  /** Estimated time of one more call, from the duration of the calls of this attempt. Absent if it failed. */
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
