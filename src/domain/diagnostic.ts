/** The prover's diagnostics about a draft, in the fixed format that planners read (FLEX-42…48). */
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

/** The first diagnostic that is no consequence of another. */
export function findRootCause(failures: readonly Diagnostic[]): Diagnostic | undefined {
  return failures.find((each) => !isConsequence(each)) ?? failures[0]
}

/** It follows from another node's diagnostic, or from the conflict that it is a member of. */
export function isConsequence({ details }: Diagnostic): boolean {
  return details?.['consequenceOf'] !== undefined || details?.['conflictsWith'] !== undefined
}

/** `details.code` of the diagnostic that stands for a planner without a draft. */
export const plannerFailed = 'plan/planner-failed'

/** The diagnostics as a planner reads them: with the suggestions that are about its draft. */
export function forPlanner(bundle: DiagnosticBundle): DiagnosticBundle {
  const { failures, warnings, infos } = bundle
  return {
    ...bundle,
    failures: failures.map(restored),
    warnings: warnings.map(restored),
    infos: infos.map(restored),
  }
}

function restored(diagnostic: Diagnostic): Diagnostic {
  const { forPlanner: suggestion, ...details } = diagnostic.details ?? {}
  return typeof suggestion === 'string' ? { ...diagnostic, suggestion, details } : diagnostic
}
