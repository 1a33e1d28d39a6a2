/**
 * Merges diagnostics into one bundle: deduplicated, in a fixed order, with the status and the score (FLEX-44…48). Before
 * that, marks diagnostics that may be consequences of another one.
 */

import { canonicalJson, sha256Hex } from '../../base/canonical.ts'
import type { Level } from '../../domain/contract.ts'
import type { Diagnostic, DiagnosticBundle } from '../../domain/diagnostic.ts'
import type { DiagnosticCode } from '../diagnostics.ts'
import { withBodies } from './obligations/policies.ts'
import type { Resolved, ResolvedNode } from './proof-request.ts'

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
    status: getStatus(merged),
    satisfactionScore: computeSatisfaction(scores),
    failures: of('hard'),
    warnings: of('soft'),
    infos: of('informational'),
  }
}

/** Weighted share of the met constraints; 1 for a contract without constraints. */
function computeSatisfaction(scores: readonly Score[]): number {
  const total = scores.reduce((sum, { level }) => sum + weight[level], 0)
  const met = scores.reduce((sum, score) => sum + (score.met ? weight[score.level] : 0), 0)
  return total === 0 ? 1 : met / total
}

function getStatus(merged: readonly Diagnostic[]): DiagnosticBundle['status'] {
  if (merged.some(({ severity, status }) => severity === 'hard' && status === 'unsatisfied'))
    return 'rejected'
  const isReported = ({ status, cause }: Diagnostic) => status !== 'satisfied' || cause === 'advisory'
  return merged.some(isReported) ? 'accepted_with_findings' : 'accepted'
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

/** After one of these diagnostics the output of the node is unknown. */
const roots: ReadonlySet<unknown> = new Set<DiagnosticCode>([
  'plan/capability-absent',
  'plan/capability-unknown',
  'plan/facet-unknown',
  'plan/schema',
])

/** Diagnostics about a missing value, possibly one that a node with unknown output supplies. */
const unsupplied: ReadonlySet<unknown> = new Set<DiagnosticCode>([
  'plan/input-missing',
  'plan/output-missing',
])

export function markConsequences(diagnostics: readonly Diagnostic[], resolved: Resolved): Diagnostic[] {
  const nodes = new Map(withBodies(resolved.nodes).map((node) => [node.id, node]))
  const broken = new Map(
    diagnostics
      .filter((each) => roots.has(each.details?.['code']) && leavesOutputOpen(each, nodes))
      .map(({ nodeId = '', constraint = '' }) => [nodeId, constraint]),
  )
  if (broken.size === 0) return [...diagnostics]
  return diagnostics.map((each) => (isLack(each) ? follows(each, broken) : each))
}

/** An unknown alternate does not change what the node itself supplies. */
function leavesOutputOpen(
  { nodeId = '', details }: Diagnostic,
  nodes: ReadonlyMap<string, ResolvedNode>,
): boolean {
  const node = nodes.get(nodeId)
  if (node === undefined) return false
  return details?.['code'] !== 'plan/capability-unknown' || node.capability === undefined
}

function isLack({ cause, constraintId, details, severity }: Diagnostic): boolean {
  if (unsupplied.has(details?.['code'])) return true
  const reason = severity === 'hard' ? cause : details?.['reason']
  return constraintId !== undefined && reason === 'missing_producer' && Array.isArray(details?.['vars'])
}

function follows(diagnostic: Diagnostic, broken: ReadonlyMap<string, string>): Diagnostic {
  const others = [...broken].filter(([nodeId]) => nodeId !== diagnostic.nodeId)
  if (others.length === 0) return diagnostic
  const nodes = others.map(([nodeId]) => nodeId)
  const named = nodes.map((id) => `"${id}"`).join(' and ')
  return {
    ...diagnostic,
    suggestion: `Correct ${named} first: while it is unknown what ${nodes.length === 1 ? 'it supplies' : 'they supply'}, this may only follow from that`,
    details: { ...diagnostic.details, consequenceOf: nodes },
  }
}
