/** `proviso reply`: records a person's decision on an ask and continues the run. */
import { Argument, type Command, Option } from 'commander'
import type { App } from '../../app.ts'
import { ProvisoError } from '../../base/errors/error.ts'
import type { Json } from '../../base/json.ts'
import type { Decision, RejectAction, Reply } from '../../domain/ask.ts'
import type { GrantScope } from '../../domain/loop-facts.ts'
import type { AskRow } from '../../domain/ports/store.ts'
import { describeExitCodes } from '../exit-codes.ts'
import { readJson } from '../input/read-json.ts'
import { addFileOption, addUseOption, readWork } from '../input/read-work.ts'
import { refuseMissing } from '../missing-capabilities.ts'
import { addByOption, chooseName } from '../options/by-option.ts'
import { addModelOptions, chooseModels, type ModelFlags } from '../options/model-option.ts'
import { addProgressOptions, chooseShown, type ProgressFlags } from '../options/progress-option.ts'
import { addStoreOption, chooseExistingStore } from '../options/store-option.ts'
import { colors, printNote, refuse } from '../print.ts'
import type { Unreadable } from '../read-input.ts'
import { describeAsk } from '../render/describe-ask.ts'
import { type Begun, executeRun } from '../run/follow-run.ts'
import { addRecordOnlyOption, recordOnly } from '../run/record-only.ts'

interface Flags extends ProgressFlags, ModelFlags {
  readonly value?: string
  readonly note?: string
  readonly rejectAction?: RejectAction
  readonly grant?: GrantScope
  readonly by?: string
  readonly file?: string
  readonly use: readonly string[]
  readonly preset?: readonly string[]
  readonly store?: string
  readonly recordOnly?: true
}

const decisions: readonly Decision[] = ['approve', 'edit', 'reject', 'answer']

const examples = `
Examples:
  proviso asks --store sqlite:runs.db
  proviso reply r1:ask:1 approve --store sqlite:runs.db --file tea.json
  proviso reply r1:ask:1 edit --value "@tea-text.json" --note shorter --store sqlite:runs.db --file tea.json
  proviso reply r1:ask:1 reject --note "too long" --reject-action retry --store sqlite:runs.db --file tea.json
  proviso reply r1:ask:1 answer --value "@answer.json" --store sqlite:runs.db --file tea.json
  proviso reply r1:ask:1 approve --record-only --store postgres://…

${describeExitCodes(['ok', 'usage', 'unmet', 'waiting', 'budget', 'interrupted'])}`

export function addReplyCommand(program: Command): void {
  const command = program
    .command('reply')
    .summary('answer an ask and continue the run')
    .description(
      'record a decision and continue the run here until it ends or waits; the first decision counts',
    )
    .argument('<request>', 'request id from `proviso asks`')
    .addArgument(new Argument('<decision>', 'what is decided').choices(decisions))
    .option('--value <json>', 'value for edit and answer: JSON, @FILE, or "-" for stdin')
    .option('--note <text>', 'reason, for the audit log and as feedback for the next attempt')
    .addOption(
      new Option('--reject-action <action>', 'next action after a rejection').choices([
        'fail',
        'retry',
        'replan',
      ]),
    )
    .addOption(
      new Option('--grant <scope>', 'allow later calls of the tool without an ask').choices([
        'run',
        'thread',
      ]),
    )
  addProgressOptions(
    addModelOptions(addStoreOption(addRecordOnlyOption(addUseOption(addFileOption(addByOption(command)))))),
    'print every event after the decision as one line of JSON',
  )
    .addHelpText('after', examples)
    .action(async (requestId: string, decision: Decision, flags: Flags) => {
      process.exitCode = await reply(requestId, decision, flags)
    })
}

async function reply(requestId: string, decision: Decision, flags: Flags): Promise<number> {
  const { file, use, preset = [], note, rejectAction, grant } = flags
  const store = chooseExistingStore(flags.store)
  const by = chooseName(flags.by)
  const given = await readValue(flags.value)
  if ('unreadable' in given) return refuse(given.unreadable)
  const workFlags = { use, preset, ...(file !== undefined && { file }) }
  const work = await readWork(workFlags)
  if ('unreadable' in work) return refuse(work.unreadable)
  const record = (app: App) =>
    recordReply(app, requestId, {
      ...given,
      ...(note !== undefined && { note }),
      ...(rejectAction !== undefined && { rejectAction }),
      ...(grant !== undefined && { grant }),
      recordOnly: flags.recordOnly ?? false,
      decision,
      by,
    })
  if (flags.recordOnly) return recordOnly(store, record)
  const models = await chooseModels(flags, { isContinued: true })
  return executeRun({ store, work, flags: workFlags, shown: chooseShown(flags), models, by }, record)
}

type Given = Pick<Reply, 'decision' | 'by' | 'value' | 'note' | 'rejectAction' | 'grant'> & {
  readonly recordOnly: boolean
}

/** Prints the ask, then records the decision. */
async function recordReply(app: App, requestId: string, given: Given): Promise<Begun> {
  const { recordOnly, ...reply } = given
  const { decision, by, rejectAction } = reply
  const ask = await app.store.ask(requestId)
  if (!ask) throw new ProvisoError('ask/unknown', `Ask "${requestId}" not found`)
  refuseAnswered(ask)
  for (const line of describeAsk(ask, colors)) printNote(line)
  const { runId, valueHash } = ask
  const answer = { requestId, decision, ...(rejectAction && { rejectAction }) }
  if (!recordOnly) await refuseMissing(app, runId, answer)
  const after = (await app.store.head(runId))?.seq ?? 0
  await app.reply(runId, { ...reply, requestId, valueHash })
  printNote(`${colors.green('✓')} ${decision} by ${by} is recorded`)
  return { runId, after }
}

/** Throws if the ask is already resolved, naming who resolved it; the engine's own error does not name them. */
function refuseAnswered({ requestId, status, decision, by, resolvedAt }: AskRow): void {
  if (status === 'pending') return
  const when = resolvedAt === undefined ? '' : ` at ${new Date(resolvedAt).toISOString()}`
  throw new ProvisoError(
    'ask/resolved',
    `Cannot reply to "${requestId}": already answered with ${decision} by ${by}${when}`,
  )
}

/** Reads JSON from the option itself, from a file or from stdin. */
async function readValue(
  given: string | undefined,
): Promise<{ readonly value?: Json } | { readonly unreadable: Unreadable }> {
  if (given === undefined) return {}
  if (given === '-' || given.startsWith('@')) {
    const read = await readJson(given === '-' ? '-' : given.slice(1), 'the value')
    return 'unreadable' in read ? read : { value: read.value }
  }
  try {
    return { value: JSON.parse(given) }
  } catch (error) {
    const message = `--value is not JSON: ${(error as Error).message}`
    return {
      unreadable: { message, hint: `Quote strings twice: --value '"text"', or give a file: --value @FILE` },
    }
  }
}
