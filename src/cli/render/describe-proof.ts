/** Renders a proof as a page of text for `proviso prove`. */
import type { RaoRow } from '../../domain/plan/rao-rows.ts'
import type { Choice } from '../../plan/index.ts'
import { treeLines } from '../live/tree.ts'
import { oneLine } from '../one-line.ts'
import type { Colors } from '../print.ts'
import { describeFindings, describeNotes } from './describe-plan-findings.ts'
import type { ProofView, Verdict, VerdictRow } from './proof-view.ts'

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
    section(accepted ? 'Not met' : 'What is missing, and how to fix it', describeFindings(bundle, colors)),
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

function rowLine({ name, verdict, by, text }: VerdictRow, colors: Colors): string {
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
