/** Merges diagnostics into one bundle: deduplicated, in a fixed order, with the status and the score (FLEX-44…48). */
import { canonicalJson } from '../../../base/canonical.ts'
import { sha256Hex } from '../../../base/hash.ts'
import type { Level } from '../../../domain/contract.ts'
import type { Diagnostic, DiagnosticBundle } from '../../../domain/diagnostic.ts'

/** Whether one constraint of the caller is met, for the score. */
export interface Score {
  readonly level: Level
  /** Proved, or guarded at run time. */
  readonly met: boolean
}

const rank: Readonly<Record<Level, number>> = { hard: 0, soft: 1, informational: 2 }
const weight: Readonly<Record<Level, number>> = { hard: 1, soft: 0.5, informational: 0 }

export function mergeDiagnostics(
  diagnostics: readonly Diagnostic[],
  scores: readonly Score[],
): DiagnosticBundle {
  const merged = inOrder(dedupe(diagnostics))
  const of = (level: Level) => merged.filter(({ severity }) => severity === level)
  return {
    status: statusOf(merged),
    satisfactionScore: satisfactionOf(scores),
    failures: of('hard'),
    warnings: of('soft'),
    infos: of('informational'),
  }
}

/** Weighted share of the met constraints; 1 for a contract without constraints. */
function satisfactionOf(scores: readonly Score[]): number {
  const total = scores.reduce((sum, { level }) => sum + weight[level], 0)
  const met = scores.reduce((sum, score) => sum + (score.met ? weight[score.level] : 0), 0)
  return total === 0 ? 1 : met / total
}

function statusOf(merged: readonly Diagnostic[]): DiagnosticBundle['status'] {
  if (merged.some(({ severity, status }) => severity === 'hard' && status === 'unsatisfied'))
    return 'rejected'
  const isFinding = ({ status, cause }: Diagnostic) => status !== 'satisfied' || cause === 'advisory'
  return merged.some(isFinding) ? 'accepted_with_findings' : 'accepted'
}

function dedupe(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  const byKey = new Map<string, Diagnostic>()
  for (const diagnostic of diagnostics) {
    const { constraintId, constraint = '', nodeId = '*', cause } = diagnostic
    const key = canonicalJson([constraintId ?? sha256Hex(constraint), nodeId, cause])
    const before = byKey.get(key)
    byKey.set(key, before === undefined ? diagnostic : together(before, diagnostic))
  }
  return [...byKey.values()]
}

function together(a: Diagnostic, b: Diagnostic): Diagnostic {
  const [first, second] = rank[b.severity] < rank[a.severity] ? [b, a] : [a, b]
  const lines = [a.suggestion, b.suggestion].flatMap((suggestion) => suggestion?.split('\n') ?? [])
  const suggestion = [...new Set(lines)].join('\n')
  const details = { ...second.details, ...first.details }
  return {
    ...first,
    ...(suggestion !== '' && { suggestion }),
    ...(Object.keys(details).length > 0 && { details }),
  }
}

function inOrder(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  return [...diagnostics].sort(
    (a, b) =>
      rank[a.severity] - rank[b.severity] ||
      byText(a.constraintId, b.constraintId) ||
      byText(a.nodeId, b.nodeId) ||
      byText(a.constraint, b.constraint) ||
      byText(a.cause, b.cause),
  )
}

/** Compares by code unit, independent of the locale; undefined comes last. */
function byText(a: string | undefined, b: string | undefined): number {
  if (a === b) return 0
  if (a === undefined || b === undefined) return a === undefined ? 1 : -1
  return a < b ? -1 : 1
}
