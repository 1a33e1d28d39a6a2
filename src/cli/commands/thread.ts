/** `proviso thread`: lists conversations, shows one, and says something in one. */
import { setTimeout } from 'node:timers/promises'
import { type Command, Option } from 'commander'
import { type App, readThread, type ThreadView } from '../../app.ts'
import { ProvisoError } from '../../base/errors/error.ts'
import { activeStatuses, waitingStatuses } from '../../domain/status.ts'
import { describeExitCodes } from '../exit-codes.ts'
import { addFileOption, addUseOption, readWork } from '../input/read-work.ts'
import { oneLine } from '../one-line.ts'
import { addByOption, chooseName } from '../options/by-option.ts'
import { wholeNumber } from '../options/option-parsers.ts'
import { addProgressOptions, chooseShown, type ProgressFlags } from '../options/progress-option.ts'
import {
  addStoreOption,
  chooseExistingStore,
  chooseLastingStore,
  readShown,
  writeStore,
} from '../options/store-option.ts'
import { printJson, printNote, printText, redactor, refuse } from '../print.ts'
import { table } from '../render/table.ts'
import { executeRun } from '../run/follow-run.ts'
import { recordOnly } from '../run/record-only.ts'

const pollMs = 200

interface StoreFlags {
  readonly store?: string
  readonly tenant: string
  readonly json?: true
}

interface SayFlags extends ProgressFlags, Omit<StoreFlags, 'json'> {
  readonly whenBusy?: 'queue' | 'interrupt' | 'reject'
  readonly by?: string
  readonly file?: string
  readonly use: readonly string[]
  readonly preset?: readonly string[]
}

export function addThreadCommand(program: Command): void {
  const command = program
    .command('thread')
    .summary('show conversations and add messages')
    .description('show conversations, the runs with one thread id, and add messages to them')
  addList(command)
  addShow(command)
  addSay(command)
}

const tenantOption = () => new Option('--tenant <name>', 'tenant of the thread').default('default')

function addList(command: Command): void {
  addStoreOption(command.command('list').description('list threads, last changed first'))
    .addOption(tenantOption())
    .option('--limit <n>', 'print at most this many', wholeNumber, 100)
    .option('--json', 'print one JSON list')
    .addHelpText('after', `\n${describeExitCodes(['ok', 'usage'])}`)
    .action(async ({ store, tenant, limit, json }: StoreFlags & { readonly limit: number }) => {
      const threads = await readShown(chooseExistingStore(store), (opened) =>
        opened.threads({ tenant, limit }),
      )
      if (json) return printJson(threads, 'line')
      if (threads.length === 0) return printNote('No threads found.')
      const rows = threads.map(({ threadId, runs, updatedAt }) => [
        threadId,
        String(runs),
        new Date(updatedAt).toISOString(),
      ])
      printText(table(['THREAD', 'RUNS', 'CHANGED'], rows))
    })
}

function addShow(command: Command): void {
  addStoreOption(
    command
      .command('show')
      .description('show a thread: messages, answers and asks, and the messages that wait')
      .argument('<thread>', 'thread id'),
  )
    .addOption(tenantOption())
    .option('--json', 'print it as JSON')
    .addHelpText('after', `\n${describeExitCodes(['ok', 'usage'])}`)
    .action(async (threadId: string, { store, tenant, json }: StoreFlags) => {
      const found = await readShown(chooseExistingStore(store), (opened) =>
        readThread(opened, { tenant, threadId }),
      )
      if (found === undefined) throw new ProvisoError('thread/missing', `Thread "${threadId}" not found`)
      // The redactor keeps the shape of the value, so the cast is safe.
      const thread = redactor.value(found) as ThreadView
      if (json) printJson(thread, 'indented')
      else printText(describe(thread))
    })
}

function describe({ turns, queued }: ThreadView): string {
  const lines = turns.flatMap(({ runId, status, message, output, error, asks = [] }) => [
    `${runId}  ${status}`,
    `  > ${oneLine(message, 300)}`,
    ...asks.map(({ question, decision = 'open' }) => `  ? ${oneLine(question, 200)} (${decision})`),
    ...(output === undefined ? [] : [`  < ${oneLine(JSON.stringify(output), 300)}`]),
    ...(error === undefined ? [] : [`  ! ${oneLine(error, 300)}`]),
  ])
  const waiting = queued.flatMap(({ runId, message }) => [`${runId}  queued`, `  > ${oneLine(message, 300)}`])
  return [...lines, ...waiting].join('\n')
}

function addSay(command: Command): void {
  const say = command
    .command('say')
    .description(
      'add a message to a thread and execute its run here until it ends or waits; without --file, the plan and contract of the last run are used again',
    )
    .argument('<thread>', 'thread id')
    .argument('<message>', 'text of the message')
    .addOption(tenantOption())
    .addOption(
      new Option('--when-busy <rule>', 'while a run of the thread is not over (default: "queue")').choices([
        'queue',
        'interrupt',
        'reject',
      ]),
    )
  addProgressOptions(
    addStoreOption(addUseOption(addFileOption(addByOption(say))), 'server'),
    'print every event as one line of JSON',
  )
    .addHelpText(
      'after',
      `\n${describeExitCodes(['ok', 'usage', 'unmet', 'waiting', 'budget', 'interrupted'])}`,
    )
    .action(async (threadId: string, message: string, flags: SayFlags) => {
      process.exitCode = await sayInThread(threadId, message, flags)
    })
}

async function sayInThread(threadId: string, message: string, flags: SayFlags): Promise<number> {
  const { file, use, preset = [], tenant, whenBusy = 'queue' } = flags
  const store = chooseLastingStore(flags.store)
  const by = chooseName(flags.by)
  const key = { tenant, threadId }
  const workFlags = { use, preset, ...(file !== undefined && { file }) }
  const work = await readWork(workFlags)
  if ('unreadable' in work) return refuse(work.unreadable)
  const { envelope, draft } = work
  const given = { message, whenBusy, by, ...(envelope && { envelope }), ...(draft && { draft }) }
  const say = async (app: App) => {
    const { runId, status } = await app.threads.say(key, given)
    if (status === 'queued') printNote(`Queued: run "${runId}" starts when the runs before it are over.`)
    return { runId, after: 0 }
  }
  const begin = async (app: App) => {
    const begun = await say(app)
    // An interrupted run may take a moment to end in its process.
    while (!(await app.store.head(begun.runId))?.seq) {
      await setTimeout(pollMs)
      await app.threads.startNext(key)
    }
    return begun
  }
  const busy = await writeStore(store, (opened) =>
    opened.runs({ ...key, status: [...activeStatuses, ...waitingStatuses], limit: 1 }),
  )
  // The process that ends the run before it starts the message.
  if (busy.length > 0 && whenBusy === 'queue') return recordOnly(store, say)
  return executeRun({ store, work, flags: workFlags, shown: chooseShown(flags), by }, begin)
}
