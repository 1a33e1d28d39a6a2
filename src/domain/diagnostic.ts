/** What the prover says about a draft, in the fixed shape that planners read (FLEX-42…48). */
import type { Json } from '../base/json.ts'
import type { Level } from './contract.ts'

export type Cause =
  | 'missing_producer'
  | 'missing_enforcer'
  | 'schema_incompatible'
  | 'unsatisfied_soft'
  | 'advisory'

export interface Diagnostic {
  readonly severity: Level
  readonly status: 'unsatisfied' | 'satisfied' | 'unknown'
  /** The constraint or obligation, readable. */
  readonly constraint?: string
  readonly constraintId?: string
  readonly nodeId?: string
  readonly capabilityId?: string
  readonly cause: Cause
  readonly suggestion?: string
  readonly details?: { readonly [key: string]: Json }
}

export interface DiagnosticBundle {
  readonly status: 'rejected' | 'accepted_with_findings' | 'accepted'
  readonly satisfactionScore: number
  readonly failures: readonly Diagnostic[]
  readonly warnings: readonly Diagnostic[]
  readonly infos: readonly Diagnostic[]
}
