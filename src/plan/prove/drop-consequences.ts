/**
 * Marks diagnostics that may be consequences of another one: if the output of a node is unknown, everything it should
 * supply is reported as missing. No diagnostic is removed, but consequences point to the root diagnostic to fix first.
 */
import type { Diagnostic } from '../../domain/diagnostic.ts'
import type { DiagnosticCode } from '../diagnostics.ts'
import { withBodies } from './obligations/policies.ts'
import type { Resolved, ResolvedNode } from './proof-request.ts'

/** After one of these diagnostics the output of the node is unknown. */
const roots: ReadonlySet<unknown> = new Set<DiagnosticCode>([
  'plan/capability-absent',
  'plan/capability-unknown',
  'plan/facet-unknown',
  'plan/schema',
])

/** Findings about a missing value, possibly one that a node with unknown output supplies. */
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
