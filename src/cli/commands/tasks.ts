/** `proviso tasks`: lists the tasks of people. */
import { type Command, Option } from 'commander'
import { ProvisoError } from '../../base/errors/error.ts'
import type { AskRow, Store } from '../../domain/ports/store.ts'
import { openAssignment } from '../../domain/task/assignment.ts'
import { findTasks } from '../../engine/input/task-list.ts'
import { describeExitCodes } from '../exit-codes.ts'
import { spell } from '../one-line.ts'
import { wholeNumber } from '../options/option-parsers.ts'
import { addStoreOption, chooseExistingStore, readShown } from '../options/store-option.ts'
import { printJson, printNote, printText, redactor } from '../print.ts'
import { table } from '../render/table.ts'

interface Flags {
  readonly store?: string
  readonly for?: string
  readonly role?: readonly string[]
  readonly run?: string
  readonly status: AskRow['status']
  readonly limit: number
  readonly after?: string
  readonly json?: true
}

const statuses: readonly AskRow['status'][] = ['pending', 'resolved', 'denied']

export function addTasksCommand(program: Command): void {
  addStoreOption(
    program
      .command('tasks')
      .summary('list the tasks of people')
      .description('list the tasks of people: open ones by priority and due time, past ones oldest first'),
  )
    .option('--for <person>', 'filter by person: assigned to, held or done by them')
    .option('--role <name...>', 'filter by task role: offered to people with one of these roles')
    .option('--run <id>', 'filter by run')
    .addOption(new Option('--status <status>', 'filter by status').choices(statuses).default('pending'))
    .option('--limit <n>', 'print at most this many', wholeNumber, 1_000)
    .option('--after <request>', 'start after this request id')
    .option('--json', 'print one JSON list, with the inputs of the tasks')
    .addHelpText(
      'after',
      `\nComplete a task with \`proviso reply\`, or over HTTP.\n\n${describeExitCodes(['ok', 'usage'])}`,
    )
    .action(async (flags: Flags) => {
      if (flags.for !== undefined && flags.role)
        throw new ProvisoError('option/invalid', '--for and --role exclude each other', {
          hint: 'List the tasks of a person and those of a role one after the other',
        })
      const found = await readShown(chooseExistingStore(flags.store), (store) => find(store, flags))
      // The redactor keeps the shape of the value, so the cast is safe.
      const tasks = redactor.value(found.slice(0, flags.limit)) as typeof found
      if (flags.json) printJson(tasks, 'line')
      else if (tasks.length === 0) printNote('No tasks found.')
      else printText(table(heads, tasks.map(cells)))
      const last = tasks.at(-1)
      if (last && found.length > tasks.length) printNote(`More tasks: pass --after ${last.requestId}`)
    })
}

async function find(store: Store, flags: Flags): Promise<readonly AskRow[]> {
  const { status, limit, run, after, role } = flags
  const last = after === undefined ? undefined : await store.ask(after)
  if (after !== undefined && last === undefined)
    throw new ProvisoError('ask/unknown', `Task "${after}" not found`)
  return findTasks(store, {
    status,
    limit,
    filter: flags.for !== undefined ? 'mine' : role ? 'role' : 'all',
    person: { by: flags.for ?? '', taskRoles: role ?? [] },
    ...(run !== undefined && { runId: run }),
    ...(last && { after: last }),
  })
}

const heads = ['TASK', 'PRIORITY', 'DUE', 'FOR', 'HELD BY', 'QUESTION']

function cells({ requestId, assignment = openAssignment, expiresAt, question }: AskRow): string[] {
  const { priority, assignee, role, claimedBy } = assignment
  const left = expiresAt - Date.now()
  const whom = assignee ?? (role === undefined ? 'anyone' : `role ${role}`)
  return [requestId, priority, left > 0 ? spell(left) : 'over', whom, claimedBy ?? '-', question]
}
