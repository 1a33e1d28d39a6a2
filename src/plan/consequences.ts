/**
 * Findings that may only follow from another one: a node of which nobody knows what it supplies leaves everything unsupplied
 * that it was there for. They stay, since no constraint is ever left out, but they point to what has to be mended first.
 */
import type { Diagnostic } from '../domain/diagnostic.ts'
import type { FindingCode } from './findings.ts'
import type { Resolved } from './request.ts'

/** After one of these nobody knows what the node supplies. */
const roots: ReadonlySet<unknown> = new Set<FindingCode>([
  'plan/capability-absent',
  'plan/capability-unknown',
  'plan/facet-unknown',
  'plan/schema',
])

/** Somebody is missing who supplies something: perhaps a node whose output is not known. */
const unsupplied: ReadonlySet<unknown> = new Set<FindingCode>(['plan/input-missing', 'plan/output-missing'])

export function markConsequences(diagnostics: readonly Diagnostic[], resolved: Resolved): Diagnostic[] {
  const broken = new Map(
    diagnostics
      .filter((each) => roots.has(each.details?.['code']) && leavesOutputOpen(each, resolved))
      .map(({ nodeId = '', constraint = '' }) => [nodeId, constraint]),
  )
  if (broken.size === 0) return [...diagnostics]
  return diagnostics.map((each) => (isLack(each) ? follows(each, broken) : each))
}

/** An alternate that is unknown changes nothing about what the node itself supplies. */
function leavesOutputOpen({ nodeId = '', details }: Diagnostic, { byId }: Resolved): boolean {
  const node = byId.get(nodeId)
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
    suggestion: `Mend ${named} first: as long as nobody knows what ${nodes.length === 1 ? 'it supplies' : 'they supply'}, this may only follow from that`,
    details: { ...diagnostic.details, consequenceOf: nodes },
  }
}
