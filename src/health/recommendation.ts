/** One recommendation: the observation, its location, and the change to make. */
import type { Stage } from '../output/index.ts'

/** Minimum counts for a recommendation. */
export const thresholds = {
  /** Coercions in total, while no call used structured output. */
  total: 10,
  /** Events of one stage, skips of one model, failed prechecks or fallback steps of one step. */
  stage: 5,
  /** Coercions of the worst step or model … */
  worst: 5,
  /** … and of its most frequent stage. */
  worstStage: 3,
  /** Increase from the first half of the time range to the second. */
  rising: 2,
  /** Increase from the first bucket to the last. */
  drift: 3,
} as const

export interface Recommendation {
  readonly kind: 'basic' | 'targeted' | 'stage' | 'trend'
  readonly step?: string
  readonly model?: string
  /** Pointer into the value; `*` matches any item of a list. */
  readonly pointer?: string
  readonly stage?: Stage
  /** The observation. */
  readonly message: string
  /** The suggested change. */
  readonly change: string
}
