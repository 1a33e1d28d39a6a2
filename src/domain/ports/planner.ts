/** The port to whoever drafts plans: the search planner, a model, or a file written by hand. */
import type { Json } from '../../base/json.ts'
import type { Capability } from '../capability.ts'
import type { DiagnosticBundle } from '../diagnostic.ts'
import type { Envelope } from '../envelope.ts'
import type { PlanTrigger } from '../event.ts'
import type { Facet } from '../facet.ts'
import type { Feedback } from '../feedback.ts'
import type { Usage } from '../output.ts'
import type { Draft } from '../plan.ts'
import type { Trace } from './trace.ts'

export interface DraftRequest {
  readonly envelope: Envelope
  readonly facets: readonly Facet[]
  readonly capabilities: readonly Capability[]
  readonly attempt: number
  readonly phase: 'initial' | 'replan'
  /** Why the draft before was rejected. */
  readonly diagnostics?: DiagnosticBundle
  readonly trigger?: PlanTrigger
  /** What people and checks said about earlier work, oldest first. */
  readonly feedback?: readonly Feedback[]
  /**
   * What is done already. A draft that has a node with this id, the same capability, inputs of the same values and the same
   * instructions (or none) keeps its output; otherwise the node runs again.
   */
  readonly completed: readonly {
    readonly id: string
    readonly capabilityId?: string
    readonly instructions?: string
    readonly output: Json
  }[]
  /** Which run wants it; absent outside of one. */
  readonly runId?: string
  readonly trace?: Trace
  readonly signal: AbortSignal
  /** What is left of the run's limits; absent where nothing limits it. */
  readonly left?: DraftAllowance
  /** Charges the run: all that this draft has cost so far, told before and after every call, also when no draft comes of it. */
  readonly onUsage?: (usage: Usage) => void
}

/** What a planner may still spend. */
export interface DraftAllowance {
  readonly calls?: number
  readonly tokens?: number
  readonly costUsd?: number
}

export interface Planner {
  readonly name: string
  /**
   * The same request gives the same draft, and costs nothing. Such a planner is not asked again after a rejection if the
   * diagnostics would change nothing. Default false.
   */
  readonly deterministic?: boolean
  draft(request: DraftRequest): Promise<Draft>
}
