/** `proviso doctor`: checks what a server needs of its store: the database, its anchor, disk, rights and the clock. */
import type { Command } from 'commander'
import { type Finding, storeOperations } from '../../adapters/stores/store-operations.ts'
import { describeExitCodes, exitCode } from '../exit-codes.ts'
import { addStoreOption, chooseServersStore } from '../options/store-option.ts'
import { colors, printJson, printNote, printText } from '../print.ts'
import { table } from '../render/table.ts'

interface Flags {
  readonly store?: string
  readonly acceptLoss?: true
  readonly json?: true
}

const examples = `
Examples:
  proviso doctor --store sqlite:runs.db
  proviso doctor --store postgres://… --json
  proviso doctor --accept-loss --store sqlite:runs.db

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
    .option('--json', 'print one JSON object')
    .addHelpText('after', examples)
    .action(async (flags: Flags) => {
      process.exitCode = await examine(flags)
    })
}

async function examine({ store, acceptLoss, json }: Flags): Promise<number> {
  const { spec } = chooseServersStore(store)
  const operations = await storeOperations(spec)
  if (acceptLoss) await operations.acceptLoss(spec)
  const findings = await operations.inspect(spec)
  const isOk = findings.every(({ status }) => status !== 'fail')
  if (json) printJson({ ok: isOk, findings }, 'line')
  else report(findings)
  return exitCode(isOk ? 'ok' : 'unmet')
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
