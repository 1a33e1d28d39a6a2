/** The right of one process to execute a run. */

export interface Lease {
  readonly owner: string
  /** Fencing token: grows with every change of owner; an append with an old one is refused. */
  readonly epoch: number
}

export interface Claim {
  readonly runId: string
  /** Claimed runs are executed tenant by tenant in turn. */
  readonly tenant: string
  readonly lease: Lease
}
