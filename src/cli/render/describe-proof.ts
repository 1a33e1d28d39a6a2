/** Renders a proof as a page of text for `proviso prove`, and its findings as lines for every command. */

import type { Cause, Diagnostic, DiagnosticBundle } from '../../domain/diagnostic.ts'
import type { Verdict } from '../../domain/plan/proof-rows.ts'
import type { RaoRow } from '../../domain/plan/rao-rows.ts'
import { type Choice, diagnosticTable, isConsequence } from '../../plan/index.ts'
import { treeLines } from '../live/tree-lines.ts'
import { oneLine } from '../one-line.ts'
import type { Colors } from '../print.ts'
import type { NamedRow, ProofView } from './proof-view.ts'

interface Mark {
  readonly sign: string
  readonly color: 'green' | 'cyan' | 'yellow' | 'red'
  readonly word: string
}

/** Legend of the marks. */
const verdictMarks: Readonly<Record<Verdict, Mark>> = {
  proved: { sign: '✓', color: 'green', word: 'certain' },
  checked: { sign: '~', color: 'cyan', word: 'checked while it runs' },
  wished: { sign: '!', color: 'yellow', word: 'a wish that is not certain' },
  missing: { sign: '✗', color: 'red', word: 'not to be had' },
}

export function describeProof(view: ProofView, choices: readonly Choice[], colors: Colors): string {
  const { accepted, bundle, answer, constraints, nodes, rao } = view
  const score = `satisfaction ${Number(bundle.satisfactionScore.toFixed(3))}`
  const head = accepted
    ? `${colors.green('✓')} ${colors.bold(bundle.status.replaceAll('_', ' '))}, ${score}`
    : `${colors.red('✗')} ${colors.bold('rejected')}, ${score}`
  const sections = [
    [head],
    section('The plan', treeLines(nodes, { colors, now: 0 })),
    section(
      'The answer',
      answer.map((row) => rowLine(row, colors)),
    ),
    section(
      'The constraints',
      constraints.map((row) => rowLine(row, colors)),
    ),
    section(
      'Under a RAO contract',
      rao.map((row) => raoLine(row, colors)),
    ),
    section(accepted ? 'Not met' : 'What is missing, and how to fix it', describeDiagnostics(bundle, colors)),
    section('Not certain before it runs', describeNotes(bundle, colors)),
    section(
      'Why',
      choices.map((choice) => choiceLine(choice, colors)),
    ),
  ]
  return sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [title, ...lines.map((line) => `  ${line}`)]
}

function rowLine({ name, verdict, by, text }: NamedRow, colors: Colors): string {
  const { sign, color, word } = verdictMarks[verdict]
  const said = text === undefined ? '' : `  ${oneLine(text, 200)}`
  const isMissing = by === '' || verdict === 'missing'
  const who = isMissing ? '' : verdict === 'checked' ? ` at ${oneLine(by)}` : `, by ${oneLine(by)}`
  return `${colors[color](sign)} ${oneLine(name)}${said}  ${colors.dim(`${word}${who}`)}`
}

function raoLine({ nodeId, capabilityId, thresholds, from }: RaoRow, colors: Colors): string {
  const { autoApproveAbove, suppressBelow } = thresholds
  const who = `${oneLine(nodeId)} by ${oneLine(capabilityId)}`
  const rule = `approved above ${autoApproveAbove}, suppressed below ${suppressBelow}, else reviewed`
  return `${who}: ${rule}  ${colors.dim(`from ${oneLine(from.join(', '))}`)}`
}

function choiceLine({ wanted, taken, because, instead = [] }: Choice, colors: Colors): string {
  const what = taken === undefined ? oneLine(wanted) : `${oneLine(wanted)} ← ${oneLine(taken)}`
  const others = instead.length === 0 ? '' : `; else ${instead.join(', ')}`
  return `${what}  ${colors.dim(oneLine(because + others, 300))}`
}

const causes: Record<Cause, string> = {
  missing_producer: 'nothing in the plan supplies it',
  missing_enforcer: 'nothing in the plan makes sure of it',
  schema_incompatible: 'what is supplied does not fit what is needed',
  unsatisfied_soft: 'a wish that the plan does not meet',
  advisory: 'worth knowing',
}

/** Renders the findings of the prover as lines: what is missing, where, and how to fix it. */
export function describeDiagnostics(
  { failures, warnings }: Pick<DiagnosticBundle, 'failures' | 'warnings'>,
  colors: Colors,
): string[] {
  const unmet = failures.filter(({ status }) => status === 'unsatisfied')
  const roots = unmet.filter((diagnostic) => !isConsequence(diagnostic))
  const consequences = unmet.filter(isConsequence)
  return [
    ...joinUnavailable([...roots, ...consequences]).flatMap((diagnostic) =>
      describe(diagnostic, colors.red('✗'), colors),
    ),
    ...warnings.flatMap((diagnostic) => describe(diagnostic, colors.yellow('!'), colors)),
  ]
}

/** Renders what the proof leaves to run time: constraints that are checked during the run, and unproven ones. */
function describeNotes(
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
  for (const diagnostic of findings) {
    const { suggestion, details } = diagnostic
    const key = details?.['code'] === 'plan/capability-unknown' && suggestion ? suggestion : diagnostic
    groups.set(key, [...(groups.get(key) ?? []), diagnostic])
  }
  return [...groups.values()].flatMap((group) => {
    const [first] = group
    if (first === undefined || group.length === 1) return group
    const { nodeId: _node, capabilityId: _capability, ...rest } = first
    const nodes = [...new Set(group.map(({ nodeId }) => `"${nodeId}"`))].join(', ')
    return [{ ...rest, constraint: `the capabilities of ${nodes} are active` }]
  })
}

function describe(diagnostic: Diagnostic, mark: string, colors: Colors): string[] {
  const { nodeId, capabilityId, constraint, constraintId, suggestion } = diagnostic
  const where = [
    nodeId === undefined ? '' : `node "${nodeId}"`,
    capabilityId === undefined ? '' : `capability "${capabilityId}"`,
  ].filter((part) => part !== '')
  const what = constraint ?? constraintId ?? 'the plan satisfies the contract'
  return [
    `${mark} ${colors.bold(oneLine(where.join(', ') || 'the whole plan'))}  not shown: ${oneLine(what, 300)}`,
    `  ${getReason(diagnostic)}`,
    ...(suggestion === undefined ? [] : [`  ${colors.dim(oneLine(suggestion, 300))}`]),
  ]
}

/** Uses the sentence of the diagnostic's table row if there is one, else its cause. */
function getReason({ cause, details }: Diagnostic): string {
  const code = String(details?.['code'] ?? '')
  return Object.hasOwn(diagnosticTable, code)
    ? diagnosticTable[code as keyof typeof diagnosticTable].sentence
    : causes[cause]
}
