/**
 * What a store tells about the health of its runs: attempts that called a model, added up by the store itself, so that a
 * million spans do not have to leave it. Attempts that are alike in everything that is counted are one group.
 */
import type { Signals } from '../event/signals.ts'

export interface SampleQuery {
  /** Attempts that ended at or after this time, in milliseconds since 1970. */
  readonly from?: number
  /** Attempts that ended at or before this time. */
  readonly to?: number
  /** In how many equal parts the time between `from` and `to` is cut, if both are given. Default 1. */
  readonly slots?: number
  readonly nodeId?: string
  readonly model?: string
  readonly tenant?: string
  /** Only runs that were started from the pipeline with exactly this name. */
  readonly pipeline?: string
}

export interface SampleGroup {
  readonly nodeId: string
  /** Absent where nobody knows who answered. */
  readonly model?: string
  /** Which part of the time, from 0. */
  readonly slot: number
  /** What each of them says, without what differs from attempt to attempt: model and cost. */
  readonly signals: Signals
  readonly attempts: number
  /** What the rungs above the first call took, in all of them together. */
  readonly repair: RepairCost
}

export interface RepairCost {
  readonly calls: number
  readonly inputTokens: number
  readonly outputTokens: number
  readonly costUsd: number
  /** Calls whose cost nobody knows. */
  readonly unknownCost: number
}

/** Runs with at least one such attempt. */
export interface SampleRuns {
  readonly total: number
  readonly byNode: { readonly [nodeId: string]: number }
  /** Attempts of which nobody knows who answered are left out. */
  readonly byModel: { readonly [model: string]: number }
}

export interface Sample {
  readonly groups: readonly SampleGroup[]
  readonly runs: SampleRuns
}
