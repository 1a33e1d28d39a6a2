/** Renders the findings of the prover as lines: what is missing, where, and how to fix it. */
import type { Cause, Diagnostic, DiagnosticBundle } from '../../domain/diagnostic.ts'
import { diagnosticTable, isConsequence } from '../../plan/index.ts'
import { oneLine } from '../one-line.ts'
import type { Colors } from '../print.ts'

const causes: Record<Cause, string> = {
  missing_producer: 'nothing in the plan supplies it',
  missing_enforcer: 'nothing in the plan makes sure of it',
  schema_incompatible: 'what is supplied does not fit what is needed',
  unsatisfied_soft: 'a wish that the plan does not meet',
  advisory: 'worth knowing',
}

export function describeFindings(
  { failures, warnings }: Pick<DiagnosticBundle, 'failures' | 'warnings'>,
  colors: Colors,
): string[] {
  const unmet = failures.filter(({ status }) => status === 'unsatisfied')
  const roots = unmet.filter((finding) => !isConsequence(finding))
  const consequences = unmet.filter(isConsequence)
  return [
    ...joinUnavailable([...roots, ...consequences]).flatMap((finding) =>
      describe(finding, colors.red('✗'), colors),
    ),
    ...warnings.flatMap((finding) => describe(finding, colors.yellow('!'), colors)),
  ]
}

/** Renders what the proof leaves to run time: constraints that are checked during the run, and unproven ones. */
export function describeNotes(
  { failures, infos }: Pick<DiagnosticBundle, 'failures' | 'infos'>,
  colors: Colors,
): string[] {
  const guarded = failures.filter(({ status }) => status !== 'unsatisfied')
  return [...guarded, ...infos].flatMap(({ constraint = '', suggestion }) => [
    `${colors.cyan('~')} ${oneLine(constraint, 300)}`,
    ...(suggestion === undefined ? [] : [`  ${colors.dim(oneLine(suggestion, 300))}`]),
  ])
}

/** Merges the findings of all nodes that lack the same thing, such as the key of one provider. */
function joinUnavailable(findings: readonly Diagnostic[]): Diagnostic[] {
  const groups = new Map<unknown, Diagnostic[]>()
  for (const finding of findings) {
    const { suggestion, details } = finding
    const key = details?.['code'] === 'plan/capability-unknown' && suggestion ? suggestion : finding
    groups.set(key, [...(groups.get(key) ?? []), finding])
  }
  return [...groups.values()].flatMap((group) => {
    const [first] = group
    if (first === undefined || group.length === 1) return group
    const { nodeId: _node, capabilityId: _capability, ...rest } = first
    const nodes = [...new Set(group.map(({ nodeId }) => `"${nodeId}"`))].join(', ')
    return [{ ...rest, constraint: `the capabilities of ${nodes} are active` }]
  })
}

function describe(finding: Diagnostic, mark: string, colors: Colors): string[] {
  const { nodeId, capabilityId, constraint, constraintId, suggestion } = finding
  const where = [
    nodeId === undefined ? '' : `node "${nodeId}"`,
    capabilityId === undefined ? '' : `capability "${capabilityId}"`,
  ].filter((part) => part !== '')
  const what = constraint ?? constraintId ?? 'the plan satisfies the contract'
  return [
    `${mark} ${colors.bold(oneLine(where.join(', ') || 'the whole plan'))}  not shown: ${oneLine(what, 300)}`,
    `  ${reasonOf(finding)}`,
    ...(suggestion === undefined ? [] : [`  ${colors.dim(oneLine(suggestion, 300))}`]),
  ]
}

/** Uses the sentence of the finding's table row if there is one, else its cause. */
function reasonOf({ cause, details }: Diagnostic): string {
  const code = String(details?.['code'] ?? '')
  return Object.hasOwn(diagnosticTable, code)
    ? diagnosticTable[code as keyof typeof diagnosticTable].sentence
    : causes[cause]
}
