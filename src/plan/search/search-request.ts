/** Request and result of the search planner. */
import type { DiagnosticBundle } from '../../domain/diagnostic.ts'
import type { Draft } from '../../domain/plan.ts'
import type { Considered, DraftRequest } from '../../domain/ports/planner.ts'
import type { ProveResult } from '../prove/prove.ts'

export interface SearchRequest
  extends Pick<DraftRequest, 'envelope' | 'facets' | 'capabilities'>,
    Partial<Pick<DraftRequest, 'phase' | 'trigger' | 'completed' | 'considered'>> {
  /** Why the previous draft was rejected: capabilities named there are used only as a last resort. */
  readonly diagnostics?: DiagnosticBundle
  /** Score below which a capability is omitted. Default 0.35. */
  readonly cutoff?: number
}

/** One decision of the planner: the requirement, the chosen candidate, the reason, and the other candidates. */
export interface Choice {
  /** A property, a constraint, or what a policy asks for. */
  readonly wanted: string
  /** The node, or the envelope pointer; undefined if nothing was found. */
  readonly taken?: string
  readonly because: string
  /** Capabilities that were not chosen, the next best first. */
  readonly instead?: readonly string[]
}

export interface SearchResult {
  readonly draft: Draft
  /** What `prove` says about the draft. */
  readonly proof: ProveResult
  readonly choices: readonly Choice[]
  /** The capabilities that could be used for the draft, with their prices. */
  readonly considered: Considered
}
