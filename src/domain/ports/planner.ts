/** Port to planners, which draft plans: the search planner, a model, or a file. */
import type { Json } from '../../base/json.ts'
import type { Capability } from '../capability.ts'
import type { DiagnosticBundle } from '../diagnostic.ts'
import type { Envelope } from '../envelope.ts'
import type { PlanTrigger } from '../event.ts'
import type { Facet } from '../facet.ts'
import type { Feedback } from '../feedback.ts'
import type { Usage } from '../output.ts'
import type { Draft } from '../plan.ts'
import type { ThreadContext } from '../thread/thread-context.ts'
import type { Trace } from './trace.ts'

/** What a search considered: the capabilities on a path from the inputs to the contract, the cheapest first. */
export interface Considered {
  readonly capabilities: readonly {
    readonly capability: Capability
    /** Lowest cost of a plan part that uses it, in the unit of the optimisation goal. */
    readonly cost: number
  }[]
}

export interface DraftRequest {
  readonly envelope: Envelope
  readonly facets: readonly Facet[]
  readonly capabilities: readonly Capability[]
  /** What was considered for this request before; `search` uses its prices instead of pricing again. */
  readonly considered?: Considered
  readonly attempt: number
  readonly phase: 'initial' | 'replan'
  /** Why the previous draft was rejected. */
  readonly diagnostics?: DiagnosticBundle
  readonly trigger?: PlanTrigger
  /** What people and checks said about earlier work, oldest first. */
  readonly feedback?: readonly Feedback[]
  /** Earlier runs of the thread. */
  readonly conversation?: Omit<ThreadContext, 'grants'>
  /**
   * Completed nodes. A node of the draft with the same id, capability, input values and instructions (or none) keeps its
   * output; any other node runs again.
   */
  readonly completed: readonly {
    readonly id: string
    readonly capabilityId?: string
    readonly instructions?: string
    readonly output: Json
  }[]
  /** The run that is planned; absent outside of one. */
  readonly runId?: string
  readonly trace?: Trace
  readonly signal: AbortSignal
  /** Remaining limits of the run; absent if unlimited. */
  readonly left?: DraftAllowance
  /** Charges the run: reports the total usage of this draft before and after every call, also if no draft results. */
  readonly onUsage?: (usage: Usage) => void
}

/** Remaining budget of a planner. */
export interface DraftAllowance {
  readonly calls?: number
  readonly tokens?: number
  readonly costUsd?: number
}

export interface Planner {
  readonly name: string
  /**
   * The same request gives the same draft, at no cost. After a rejection the planner is not called again if the diagnostics
   * would not change its draft. Default false.
   */
  readonly deterministic?: boolean
  draft(request: DraftRequest): Promise<Draft>
}
