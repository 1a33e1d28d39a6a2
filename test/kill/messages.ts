/** What the harness and the process that it kills say to each other. */

export interface ChildTask {
  /** A file, or the address of a PostgreSQL server. */
  readonly store: string
  readonly runIds: readonly string[]
  /** Files of what the outside saw, and of what the store acknowledged. */
  readonly effects: string
  readonly acknowledged: string
  /** It dies at the first of these places that it comes to; absent means that it lives. */
  readonly killAt?: readonly string[]
  /** Decides how people answer. */
  readonly seed: number
  readonly leaseMs?: number
  /** Tell of every event. */
  readonly progress?: boolean
}

export type ChildReport =
  /** The first attempt of this process is in the journal, this long after its birth; it began to work after `loadedMs`. */
  | { readonly kind: 'resumed'; readonly ms: number; readonly loadedMs: number }
  | { readonly kind: 'progress'; readonly runId: string; readonly seq: number }
  /** A run could not go on; it is claimed again later. */
  | { readonly kind: 'crash'; readonly runId: string; readonly message: string }
  /** Its last word: it is at this place, and dies there. */
  | { readonly kind: 'dying'; readonly place: string }
  /** All runs are over. It passed these places; by the first `recovered` of them every run had gone a step. */
  | { readonly kind: 'done'; readonly passed: readonly string[]; readonly recovered: number }
