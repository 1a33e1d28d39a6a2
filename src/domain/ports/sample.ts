/**
 * Aggregated health of runs: attempts that called a model, grouped and counted by the store, so that a million spans need
 * not be transferred. Attempts with equal attributes form one group.
 */
import type { HealthAttributes } from '../event/health-attributes.ts'

export interface SampleQuery {
  /** Attempts that ended at or after this time, in milliseconds since 1970. */
  readonly from?: number
  /** Attempts that ended at or before this time. */
  readonly to?: number
  /** Number of equal intervals between `from` and `to`, if both are given. Default 1. */
  readonly slots?: number
  readonly nodeId?: string
  readonly model?: string
  readonly tenant?: string
  /** Only runs started from the pipeline of exactly this name. */
  readonly pipeline?: string
}

export interface SampleGroup {
  readonly nodeId: string
  /** Absent if the model is unknown. */
  readonly model?: string
  /** Index of the interval, from 0. */
  readonly slot: number
  /** Attributes that all attempts of the group share: without model and cost. */
  readonly signals: HealthAttributes
  readonly attempts: number
  /** Total usage of fallback steps after the first call. */
  readonly repair: RepairCost
}

export interface RepairCost {
  readonly calls: number
  readonly inputTokens: number
  readonly outputTokens: number
  readonly costUsd: number
  /** Calls of unknown cost. */
  readonly unknownCost: number
}

/** Runs with at least one such attempt. */
export interface SampleRuns {
  readonly total: number
  readonly byNode: { readonly [nodeId: string]: number }
  /** Without attempts whose model is unknown. */
  readonly byModel: { readonly [model: string]: number }
}

export interface Sample {
  readonly groups: readonly SampleGroup[]
  readonly runs: SampleRuns
}
