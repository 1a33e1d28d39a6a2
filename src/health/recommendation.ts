/** One piece of advice: what was seen, where, and what to change. */
import type { Stage } from '../output/index.ts'

export interface Recommendation {
  readonly kind: 'basic' | 'targeted' | 'stage' | 'trend'
  readonly step?: string
  readonly model?: string
  /** Where in the value; `*` stands for any item of a list. */
  readonly pointer?: string
  readonly stage?: Stage
  /** What was seen. */
  readonly message: string
  /** What to do about it. */
  readonly change: string
}
