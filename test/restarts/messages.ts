/** What the parent and a restarted process say to each other. */

export interface RestartTask {
  /** Address of the store. */
  readonly store: string
  readonly leaseMs: number
  /** Runs to start, each after so many milliseconds; most exist already. */
  readonly starts: readonly { readonly runId: string; readonly afterMs: number }[]
  /** Steps of runs whose id begins like this do not end, so that the next process finds them unfinished. */
  readonly endless?: string
  /** Wait for the result of each run, and end. */
  readonly finish: boolean
}

export type RestartReport =
  | { readonly kind: 'asked'; readonly nth: number }
  | { readonly kind: 'answered'; readonly nth: number; readonly answer: string; readonly ms: number }
  /** The event loop turned after the deadline of this start, and there is still no answer. */
  | { readonly kind: 'overdue'; readonly nth: number; readonly ms: number }
  | { readonly kind: 'result'; readonly runId: string; readonly status: string }
