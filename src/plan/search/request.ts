/** What the search planner is given and what it returns. */
import type { DiagnosticBundle } from '../../domain/diagnostic.ts'
import type { Draft } from '../../domain/plan.ts'
import type { DraftRequest } from '../../domain/ports/planner.ts'
import type { ProveResult } from '../prove.ts'

export interface SearchRequest
  extends Pick<DraftRequest, 'envelope' | 'facets' | 'capabilities'>,
    Partial<Pick<DraftRequest, 'phase' | 'trigger' | 'completed'>> {
  /** Why the draft before was rejected: what it names is used only if there is nothing else. */
  readonly diagnostics?: DiagnosticBundle
  /** Score below which a capability is left out. Default 0.35. */
  readonly cutoff?: number
}

/** One decision of the planner: what was wanted, what was taken, why, and what else there was. */
export interface Choice {
  /** A property, a constraint, or what a policy asks for. */
  readonly wanted: string
  /** The node, or the place in the envelope; absent where nothing was found. */
  readonly taken?: string
  readonly because: string
  /** Capabilities that were not taken, the next best first. */
  readonly instead?: readonly string[]
}

export interface SearchResult {
  readonly draft: Draft
  /** What `prove` says about the draft. */
  readonly proof: ProveResult
  readonly choices: readonly Choice[]
}
