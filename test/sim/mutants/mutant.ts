/** A mistake, and where it is put. */
export interface Mutant {
  readonly name: string
  readonly file: string
  /** Must occur exactly once. */
  readonly find: string
  readonly replace: string
  /** The first seed to try. Default 1. */
  readonly from?: number
  /** The first one that shows the mistake. */
  readonly seed: number
}
