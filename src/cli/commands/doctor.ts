/** `proviso doctor`: checks what a server needs of its store: the database, its anchor, disk, rights and the clock. */
import type { Command } from 'commander'
import { type AcceptedLoss, type Finding, storeOperations } from '../../adapters/stores/store-operations.ts'
import { confirm } from '../confirm.ts'
import { describeExitCodes, exitCode } from '../exit-codes.ts'
import { count } from '../one-line.ts'
import { addStoreOption, chooseServersStore } from '../options/store-option.ts'
import { colors, printJson, printNote, printText, refuse } from '../print.ts'
import { table } from '../render/table.ts'

interface Flags {
  readonly store?: string
  readonly acceptLoss?: true
  readonly dryRun?: true
  readonly yes?: true
  readonly json?: true
}

const examples = `
Examples:
  proviso doctor --store sqlite:runs.db
  proviso doctor --store postgres://… --json
  proviso doctor --accept-loss --dry-run --store sqlite:runs.db
  proviso doctor --accept-loss --yes --store sqlite:runs.db

${describeExitCodes(['ok', 'usage', 'unmet'])}`

export function addDoctorCommand(program: Command): void {
  addStoreOption(
    program
      .command('doctor')
      .summary('check store, disk, permissions and clock')
      .description('check the store of a server, its anchor, disk, permissions and clock'),
    'server',
  )
    .option('--accept-loss', 'continue a store that has lost acknowledged runs; its anchor is set aside')
    .option('--dry-run', 'with --accept-loss: print what would be given up, and change nothing')
    .option('--yes', 'with --accept-loss: skip the confirmation')
    .option('--json', 'print one JSON object')
    .addHelpText('after', examples)
    .action(async (flags: Flags) => {
      process.exitCode = await examine(flags)
    })
}

async function examine({ store, acceptLoss, dryRun, yes, json }: Flags): Promise<number> {
  const { spec } = chooseServersStore(store)
  const operations = await storeOperations(spec)
  let accepted: AcceptedLoss | undefined
  if (acceptLoss) {
    accepted = await operations.acceptLoss(spec, { dryRun: true })
    if (!json || !dryRun) printLoss(accepted)
    if (dryRun) {
      if (json) printJson({ ...accepted }, 'line')
      return exitCode('ok')
    }
    if (accepted.problems.length > 0) {
      const answer = yes ? true : await confirm('Continue without them?')
      if (answer === undefined) return refuse(unanswered)
      if (!answer) {
        printNote('Nothing was changed.')
        return exitCode('ok')
      }
      accepted = await operations.acceptLoss(spec, { dryRun: false })
      printNote(`The loss is accepted. The old anchor is kept as ${accepted.keptAs}.`)
    }
  }
  const findings = await operations.inspect(spec)
  const isOk = findings.every(({ status }) => status !== 'fail')
  if (json) printJson({ ok: isOk, findings, ...(accepted && { accepted }) }, 'line')
  else report(findings)
  return exitCode(isOk ? 'ok' : 'unmet')
}

const unanswered = {
  message: 'Cannot accept the loss: no answer on stdin',
  hint: 'Pass --yes, or preview with --dry-run',
}

function printLoss({ problems, acknowledged, file, lost }: AcceptedLoss): void {
  for (const { message } of problems) printNote(`${colors.red('✗')} ${colors.bold('anchor')}  ${message}`)
  printNote(
    problems.length === 0
      ? 'Nothing to accept: the file has every acknowledged commit.'
      : `Gives up ${inWords(lost)}: the anchor counts ${inWords(acknowledged)}, the file has ${inWords(file)}.`,
  )
}

function inWords({ commits, runs, events }: AcceptedLoss['lost']): string {
  return `${count(commits, 'commit')} (${count(runs, 'run')}, ${count(events, 'event')})`
}

function report(findings: readonly Finding[]): void {
  printText(
    table(
      ['CHECK', 'STATUS', 'DETAIL'],
      findings.map(({ check, status, detail }) => [check, status, detail]),
    ),
  )
  for (const { check, status, detail, hint } of findings) {
    if (hint === undefined) continue
    const mark = status === 'fail' ? colors.red('✗') : colors.yellow('!')
    printNote(`${mark} ${colors.bold(check)}  ${detail}\n  ${colors.dim(hint)}`)
  }
}
