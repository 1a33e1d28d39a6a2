/** The port to whoever drafts plans: the search planner, a model, or a file written by hand. */
import type { Json } from '../../base/json.ts'
import type { Capability } from '../capability.ts'
import type { DiagnosticBundle } from '../diagnostic.ts'
import type { Envelope } from '../envelope.ts'
import type { Facet } from '../facet.ts'
import type { Draft } from '../plan.ts'
import type { PlanTrigger } from '../run.ts'
import type { Trace } from '../trace.ts'

export interface DraftRequest {
  readonly envelope: Envelope
  readonly facets: readonly Facet[]
  readonly capabilities: readonly Capability[]
  readonly attempt: number
  readonly phase: 'initial' | 'replan'
  /** Why the draft before was rejected. */
  readonly diagnostics?: DiagnosticBundle
  readonly trigger?: PlanTrigger
  /** What is done already; a draft that keeps a node's id keeps its output. */
  readonly completed: readonly {
    readonly id: string
    readonly capabilityId?: string
    readonly output: Json
  }[]
  /** Which run wants it; absent outside of one. */
  readonly runId?: string
  readonly trace?: Trace
  readonly signal: AbortSignal
}

export interface Planner {
  readonly name: string
  draft(request: DraftRequest): Promise<Draft>
}
