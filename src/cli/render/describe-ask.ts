/** Renders an ask as lines: the question, its subject, and the command that answers it. */
import type { Ask, Decision } from '../../domain/ask.ts'
import type { RaoDecision } from '../../domain/rao/rao-contract.ts'
import { env } from '../env.ts'
import { oneLine } from '../one-line.ts'
import { type Colors, redactor } from '../print.ts'
import { commandLine } from '../shell.ts'

/** Remaining arguments of the command that continues the run: its store, the files with its capabilities, its models. */
export interface Again {
  readonly store: readonly string[]
  readonly file?: string
  readonly use: readonly string[]
  readonly preset?: readonly string[]
  readonly models?: readonly string[]
}

export function againFlags({ store, file, use, preset = [], models = [] }: Again): string[] {
  return [
    ...store,
    ...(file === undefined ? [] : ['--file', file]),
    ...use.flatMap((module) => ['--use', module]),
    ...preset.flatMap((name) => ['--preset', name]),
    ...models,
  ]
}

/** Arguments that each decision requires. */
const values: Record<Decision, readonly string[]> = {
  approve: [],
  reject: [],
  edit: ['--value', 'JSON'],
  answer: ['--value', 'JSON'],
}

export function describeAsk(ask: Ask, colors: Colors): string[] {
  const where = ask.nodeId ?? ask.policyId ?? 'the answer'
  return [
    `${colors.yellow('?')} ${colors.bold(oneLine(where))}  ${oneLine(ask.question, 300)}`,
    ...shown(ask).map((line) => `    ${line}`),
    ...(ask.rao === undefined ? [] : describeDecision(ask.rao).map((line) => `    ${colors.dim(line)}`)),
    ...(ask.issues ?? []).map(
      ({ at, message }) =>
        `    ${colors.red('✗')} ${'pointer' in at ? `${at.pointer} ` : ''}${oneLine(message, 300)}`,
    ),
    ...(ask.raw === undefined ? [] : [`    ${colors.dim('text:')} ${oneLine(redactor.text(ask.raw), 400)}`]),
    ...(ask.feedback ?? []).flatMap(({ note, by }) =>
      note === undefined
        ? []
        : [`    ${colors.dim(`said before${by ? ` by ${by}` : ''}:`)} ${oneLine(note, 300)}`],
    ),
  ]
}

/** Renders the decision of a RAO contract and its inputs. */
function describeDecision({
  thresholds,
  confidence,
  type,
  escalate,
  decision,
  reasoning,
}: RaoDecision): string[] {
  const said = confidence === null ? 'no confidence reported' : `confidence ${confidence} (${type})`
  const { autoApproveAbove, suppressBelow } = thresholds
  return [
    `rao: ${decision}, ${said}${escalate ? ', escalated' : ''}; approved above ${autoApproveAbove}, suppressed below ${suppressBelow}`,
    ...(reasoning === undefined ? [] : [`reasoning: ${oneLine(redactor.text(reasoning), 400)}`]),
  ]
}

export function describeAnswer(ask: Ask, again: Again, colors: Colors): string[] {
  const [first = 'approve'] = ask.decisions
  // A schema that allows everything is not worth printing.
  const isOpen = ['true', '{}', undefined].includes(JSON.stringify(ask.schema))
  const needsValue = values[first].length > 0 && !isOpen
  return [
    `  ${colors.dim(`Answer with ${ask.decisions.join(', ')} before ${new Date(ask.expiresAt).toISOString()}:`)}`,
    `    ${commandLine([...env.program, 'reply', ask.requestId, first, ...values[first], ...againFlags(again)])}`,
    ...(ask.rejectActions
      ? [
          `  ${colors.dim(`After reject: ${ask.rejectAction?.type ?? 'fail'}, or with --reject-action ${ask.rejectActions.join(', ')}`)}`,
        ]
      : []),
    ...(ask.grants
      ? [`  ${colors.dim('To allow later calls of the tool in this run, too: approve --grant run')}`]
      : []),
    ...(needsValue
      ? [`  ${colors.dim(`JSON must satisfy ${oneLine(JSON.stringify(ask.schema), 300)}`)}`]
      : []),
  ]
}

const mostLines = 30

/** Renders the subject of the ask, redacted and at most a screen long. */
function shown({ value }: Ask): string[] {
  if (value === null) return []
  const lines = JSON.stringify(redactor.value(value), null, 2)
    .split('\n')
    .map((line) => oneLine(line, 400))
  return lines.length <= mostLines
    ? lines
    : [...lines.slice(0, mostLines), `… ${lines.length - mostLines} more lines`]
}
