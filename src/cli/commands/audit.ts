/** `proviso audit`: lists the operations audit of a store, and checks its hash chain. */
import { type Command, Option } from 'commander'
import {
  type OperationAction,
  type OperationRow,
  operationActions,
  verifyOperations,
} from '../../domain/ports/operations.ts'
import { describeExitCodes, exitCode } from '../exit-codes.ts'
import { count, oneLine } from '../one-line.ts'
import { wholeNumber } from '../options/option-parsers.ts'
import { addStoreOption, chooseServersStore, readStore } from '../options/store-option.ts'
import { colors, printJson, printNote, printText } from '../print.ts'
import { table } from '../render/table.ts'

interface Flags {
  readonly tenant?: string
  readonly action?: OperationAction
  readonly subject?: string
  readonly limit: number
  readonly verify?: true
  readonly store?: string
  readonly json?: true
}

const examples = `
Every row contains the hash of the one before: a changed or missing row breaks the chain, and --verify reports it.
Decisions about runs are in the journal of each run: see \`proviso show\` and \`proviso verify\`.

Examples:
  proviso audit --store sqlite:runs.db
  proviso audit --action token.created --tenant acme --json
  proviso audit --verify --store postgres://…

${describeExitCodes(['ok', 'usage', 'unmet'])}`

export function addAuditCommand(program: Command): void {
  const command = program
    .command('audit')
    .summary('list changes of tokens, settings and registrations, and erased runs')
    .description('list the operations audit of a store, newest first, or check its hash chain')
    .option('--tenant <tenant>', 'filter by tenant')
    .addOption(new Option('--action <action>', 'filter by action').choices(operationActions))
    .option('--subject <id>', 'filter by token id, capability id, run id or receipt id')
    .option('--limit <n>', 'maximum number of rows', wholeNumber, 100)
    .option('--verify', 'check the hash chain of all rows instead')
  addStoreOption(command, 'server')
    .option('--json', 'print one JSON list, or with --verify one object')
    .addHelpText('after', examples)
    .action(async (flags: Flags) => {
      process.exitCode = await (flags.verify ? verify(flags) : list(flags))
    })
}

async function list({ tenant, action, subject, limit, store, json }: Flags): Promise<number> {
  const rows = await readStore(chooseServersStore(store), ({ records }) =>
    records.operations.list({
      limit,
      ...(tenant !== undefined && { tenant }),
      ...(action !== undefined && { action }),
      ...(subject !== undefined && { subject }),
    }),
  )
  if (json) printJson(rows, 'line')
  else if (rows.length === 0) printNote('No operations found.')
  else printText(table(heads, rows.map(cells)))
  return exitCode('ok')
}

const heads = ['#', 'TIME', 'TENANT', 'BY', 'ACTION', 'SUBJECT', 'DETAILS']

function cells({ seq, at, tenant, by, action, subject, details }: OperationRow): string[] {
  const time = `${new Date(at).toISOString().slice(0, 19)}Z`
  return [
    String(seq),
    time,
    tenant,
    oneLine(by, 40),
    action,
    oneLine(subject, 60),
    oneLine(JSON.stringify(details), 80),
  ]
}

async function verify({ store, json }: Flags): Promise<number> {
  const { rows, head, broken } = await readStore(chooseServersStore(store), ({ records }) =>
    verifyOperations(records.operations),
  )
  if (json) printJson({ ok: broken.length === 0, rows, head, broken }, 'line')
  else {
    for (const { seq, message } of broken)
      printNote(`${colors.red('✗')} ${colors.bold(`row ${seq}`)}  ${message}`)
    printText(`${count(rows, 'row')}: ${broken.length === 0 ? 'the chain is intact' : 'the chain is broken'}`)
    if (rows > 0) printText(`head ${head}`)
  }
  return exitCode(broken.length === 0 ? 'ok' : 'unmet')
}
