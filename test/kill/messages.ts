/** Messages between the harness and the process that it kills. */

export interface ChildTask {
  /** A file, or the address of a PostgreSQL server. */
  readonly store: string
  readonly runIds: readonly string[]
  /** Log files of the external effects, and of the acknowledged writes. */
  readonly effects: string
  readonly acknowledged: string
  /** It dies at the first of these crash points that it reaches; absent: it lives. */
  readonly killAt?: readonly string[]
  /** Determines how people answer. */
  readonly seed: number
  readonly leaseMs?: number
  /** Report every event. */
  readonly progress?: boolean
}

/** The first attempt of this process is in the journal; times since its start, and the processor time until then. */
export interface Resumption {
  readonly kind: 'resumed'
  readonly ms: number
  /** The code was loaded. */
  readonly loadedMs: number
  /** The store was open. */
  readonly openedMs: number
  /** The app was created. */
  readonly createdMs: number
  readonly cpuMs: number
}

export type ChildReport =
  | Resumption
  | { readonly kind: 'progress'; readonly runId: string; readonly seq: number }
  /** A run could not continue; it is claimed again later. */
  | { readonly kind: 'crash'; readonly runId: string; readonly message: string }
  /** Last report: it is at this crash point, and dies there. */
  | { readonly kind: 'dying'; readonly point: string }
  /** All runs have ended. It passed these points; by the first `recovered` of them every run had made progress. */
  | { readonly kind: 'done'; readonly passed: readonly string[]; readonly recovered: number }
