/** `proviso schedule`: adds, lists, pauses and removes schedules of a store; `serve` and `worker` start their runs. */
import { type Command, InvalidArgumentError, Option } from 'commander'
import { type App, type AppOptions, createApp } from '../../app.ts'
import { ProvisoError } from '../../base/errors/error.ts'
import { pick } from '../../base/json.ts'
import {
  createScheduleServices,
  listNextTicks,
  type MissedRule,
  missedRules,
  overlapRules,
  parseCron,
  type Schedule,
} from '../../engine/schedules/schedules.ts'
import { describeExitCodes, exitCode } from '../exit-codes.ts'
import { addInputOption, addUseOption, readStart } from '../input/read-work.ts'
import { oneLine } from '../one-line.ts'
import { addByOption, chooseName } from '../options/by-option.ts'
import { wholeNumber } from '../options/option-parsers.ts'
import { addStoreOption, chooseLastingStore, chooseServersStore, readStore } from '../options/store-option.ts'
import { printJson, printNote, printText, redactor, refuse } from '../print.ts'
import { table } from '../render/table.ts'

interface Flags {
  readonly store?: string
  readonly tenant: string
  readonly json?: true
}

interface ChangeFlags extends Flags {
  readonly by?: string
}

interface AddFlags extends ChangeFlags {
  readonly cron?: string
  readonly timeZone?: string
  readonly at?: string
  readonly file?: string
  readonly use: readonly string[]
  readonly preset?: readonly string[]
  readonly input: readonly string[]
  readonly thread?: string
  readonly missed?: MissedRule
  readonly overlap?: 'allow' | 'skip'
  readonly description?: string
  readonly paused?: true
}

const examples = `
Runs are started by the processes that execute the runs of the store (\`proviso serve\`, \`proviso worker\`): each tick by one of
them, once. They must know the capabilities that the file names.

Examples:
  proviso schedule add nightly --cron '0 7 * * 1-5' --time-zone Europe/Berlin --file run.json
  proviso schedule add daily --cron @daily --file pipeline.yaml --use agents.mjs
  proviso schedule add --at 2027-01-31T07:00:00+01:00 --file run.json --store postgres://…
  proviso schedule next --cron '30 2 * * *' --time-zone America/New_York
`
const exits = `\n${describeExitCodes(['ok', 'usage'])}`

export function addScheduleCommand(program: Command): void {
  const command = program
    .command('schedule')
    .summary('start runs at given times')
    .description('start runs at the matches of a cron pattern, or once at a time')
    .addHelpText('after', `${examples}${exits}`)
  addAdd(command)
  addList(command)
  addShow(command)
  addChange(command, 'pause', { isPaused: true, what: 'stop the ticks of a schedule until it is resumed' })
  addChange(command, 'resume', {
    isPaused: false,
    what: 'continue a paused schedule with its next tick from now',
  })
  addRemove(command)
  addNext(command)
}

const tenantOption = () => new Option('--tenant <name>', 'tenant of the schedules').default('default')

function withStore(command: Command): Command {
  return addStoreOption(command, 'server')
    .addOption(tenantOption())
    .option('--json', 'print JSON')
    .addHelpText('after', exits)
}

function addAdd(command: Command): void {
  const add = command
    .command('add')
    .description('add a schedule')
    .argument('[schedule]', 'its id (default: a new one)')
    .option('--cron <pattern>', 'minute, hour, day, month and weekday; optionally the second in front')
    .option('--time-zone <name>', 'IANA time zone of --cron (default: UTC)')
    .addOption(new Option('--at <time>', 'start once, at an ISO 8601 time with an offset').conflicts('cron'))
    .addOption(
      new Option('--missed <rule>', 'for ticks that no process took in time (default: "once")').choices(
        missedRules,
      ),
    )
    .addOption(
      new Option('--overlap <rule>', 'while the last run is not over (default: "allow")').choices(
        overlapRules,
      ),
    )
    .option('--thread <id>', 'thread of the runs')
    .option('--description <text>', 'what it is for')
    .option('--paused', 'add it paused')
  add.option('-f, --file <file>', 'what is started: an envelope, a run file, a pipeline or a template')
  withStore(addByOption(addInputOption(addUseOption(add)))).action(
    async (scheduleId: string | undefined, flags: AddFlags) => {
      process.exitCode = await addSchedule(scheduleId, flags)
    },
  )
}

async function addSchedule(scheduleId: string | undefined, flags: AddFlags): Promise<number> {
  const { file, input, tenant, cron, timeZone, at, missed, overlap, description, thread, paused } = flags
  const missing = () =>
    new ProvisoError('option/invalid', 'Cannot add a schedule: no run is given', {
      hint: 'Pass --file with an envelope, and a draft or a pipeline if you have one',
    })
  if (file === undefined) throw missing()
  const work = await readStart({ file, input, use: flags.use, ...pick(flags, ['preset']) })
  if ('unreadable' in work) return refuse(work.unreadable)
  const { envelope, draft, capabilities } = work
  if (envelope === undefined) throw missing()
  const given = {
    ...{ tenant, by: chooseName(flags.by), envelope },
    ...(scheduleId !== undefined && { scheduleId }),
    ...(draft && { draft }),
    ...(cron !== undefined && { cron }),
    ...(timeZone !== undefined && { timeZone }),
    ...(at !== undefined && { at }),
    ...(missed && { missed }),
    ...(overlap && { overlap }),
    ...(description !== undefined && { description }),
    ...(thread !== undefined && { threadId: thread }),
    ...(paused && { isPaused: true }),
  }
  const { spec } = chooseLastingStore(flags.store)
  const schedule = await write(spec, ({ schedules }) => schedules.add(given), work.facets)
  const needed = listUsed(
    draft,
    capabilities.map(({ capability }) => capability.capabilityId),
  )
  if (needed.length > 0)
    printNote(`The processes on the store need these capabilities: ${needed.join(', ')}.`)
  print(schedule, flags.json)
  return exitCode('ok')
}

/** The loaded capabilities that the draft names, at any depth; without a draft the planner chooses. */
function listUsed(draft: unknown, ids: readonly string[]): readonly string[] {
  if (draft === undefined) return ids
  const text = JSON.stringify(draft)
  return ids.filter((id) => text.includes(JSON.stringify(id)))
}

/** An app that executes nothing: another process starts the runs. */
async function write<T>(
  spec: string,
  change: (app: App) => Promise<T>,
  facets: AppOptions['facets'] = [],
): Promise<T> {
  const app = await createApp({ store: spec, claim: 'none', facets })
  try {
    return await change(app)
  } finally {
    await app.close()
  }
}

function addList(command: Command): void {
  withStore(command.command('list').description('list schedules, newest first')).action(
    async ({ store, tenant, json }: Flags) => {
      const all = await read(store, (schedules) => schedules.list({ tenant }))
      if (json) return printJson(all.map(toView), 'line')
      if (all.length === 0) return printNote('No schedules found.')
      const rows = all.map(({ scheduleId, status, next: [next], past: [last], ...timing }) => [
        scheduleId,
        status,
        describeTiming(timing),
        next === undefined ? '' : iso(next),
        last === undefined ? '' : describeOutcome(last),
      ])
      printText(table(['SCHEDULE', 'STATUS', 'WHEN', 'NEXT', 'LAST'], rows))
    },
  )
}

function addShow(command: Command): void {
  const show = command
    .command('show')
    .description('show a schedule, its next ticks and what happened at the last ones')
    .argument('<schedule>', 'id of the schedule')
  withStore(show).action(async (scheduleId: string, { store, tenant, json }: Flags) => {
    print(await read(store, (schedules) => schedules.get(scheduleId, { tenant })), json)
  })
}

function addChange(
  command: Command,
  name: string,
  { isPaused, what }: { readonly isPaused: boolean; readonly what: string },
): void {
  const change = command.command(name).description(what).argument('<schedule>', 'id of the schedule')
  withStore(addByOption(change)).action(async (scheduleId: string, flags: ChangeFlags) => {
    const { tenant } = flags
    const by = chooseName(flags.by)
    const changed = await write(chooseServersStore(flags.store).spec, ({ schedules }) =>
      schedules.change(scheduleId, { tenant, by, isPaused }),
    )
    print(changed, flags.json)
  })
}

function addRemove(command: Command): void {
  const remove = command
    .command('remove')
    .description('remove a schedule; the runs that it started continue')
    .argument('<schedule>', 'id of the schedule')
  withStore(addByOption(remove)).action(async (scheduleId: string, flags: ChangeFlags) => {
    const { tenant } = flags
    const by = chooseName(flags.by)
    await write(chooseServersStore(flags.store).spec, ({ schedules }) =>
      schedules.remove(scheduleId, { tenant, by }),
    )
    if (flags.json) printJson({ ok: true, scheduleId }, 'line')
    else printNote(`Removed schedule ${scheduleId}.`)
  })
}

interface NextFlags extends Flags {
  readonly cron?: string
  readonly timeZone: string
  readonly count: number
  readonly after?: number
}

function addNext(command: Command): void {
  const next = command
    .command('next')
    .description('print the next ticks of a schedule, or of --cron without a store')
    .argument('[schedule]', 'id of the schedule')
    .option('--cron <pattern>', 'a pattern instead of a schedule')
    .option('--time-zone <name>', 'time zone of --cron', 'UTC')
    .option('--count <n>', 'print at most this many', wholeNumber, 5)
    .option('--after <time>', 'with --cron, begin after this time instead of now', readTime)
  withStore(next).action(async (scheduleId: string | undefined, flags: NextFlags) => {
    const ticks = await findNext(scheduleId, flags)
    if (flags.json) return printJson(ticks.map(iso), 'line')
    if (ticks.length === 0) return printNote('There are no more ticks.')
    printText(ticks.map(iso).join('\n'))
  })
}

async function findNext(scheduleId: string | undefined, flags: NextFlags): Promise<readonly number[]> {
  const { cron, timeZone, count, tenant, after = Date.now() } = flags
  if (cron !== undefined) return listNextTicks(parseCron(cron, timeZone), { after, count })
  if (scheduleId === undefined)
    throw new ProvisoError('option/invalid', 'Cannot print ticks: neither a schedule nor --cron is given')
  return (await read(flags.store, (schedules) => schedules.get(scheduleId, { tenant, fires: count }))).next
}

function readTime(text: string): number {
  const time = Date.parse(text)
  if (Number.isNaN(time)) throw new InvalidArgumentError('Must be a time such as 2027-01-31T07:00:00Z.')
  return time
}

function read<T>(
  store: string | undefined,
  look: (schedules: ReturnType<typeof createScheduleServices>) => Promise<T>,
): Promise<T> {
  return readStore(chooseServersStore(store), ({ records: { documents } }) =>
    look(createScheduleServices({ documents, clock: { now: () => Date.now() }, redactor, check: () => {} })),
  )
}

function print(schedule: Schedule, json: true | undefined): void {
  if (json) {
    printJson(toView(schedule), 'line')
    return
  }
  const { scheduleId, status, description, missed, overlap, next, past, createdAt, createdBy } = schedule
  printText(
    [
      `${scheduleId}  ${status}  ${describeTiming(schedule)}`,
      ...(description === undefined ? [] : [`  ${oneLine(description, 200)}`]),
      `  missed ticks: ${missed}; overlap: ${overlap}; added ${iso(createdAt)} by ${createdBy}`,
      ...next.map((at) => `  next  ${iso(at)}`),
      ...past.map((tick) => `  past  ${describeOutcome(tick)}`),
    ].join('\n'),
  )
}

function describeTiming({ cron, timeZone, at }: Pick<Schedule, 'cron' | 'timeZone' | 'at'>): string {
  return cron === undefined ? `at ${iso(at ?? 0)}` : `${cron} (${timeZone})`
}

function describeOutcome({ at, runId, skipped, error }: Schedule['past'][number]): string {
  const why = skipped === undefined ? (error ?? '') : `skipped: ${skipped}`
  return `${iso(at)}  ${runId ?? oneLine(why, 100)}`
}

/** The same members as over HTTP, and the tenant. */
function toView({ at, createdAt, next, past, ...rest }: Schedule) {
  return {
    ...rest,
    ...(at !== undefined && { at: iso(at) }),
    createdAt: iso(createdAt),
    next: next.map(iso),
    past: past.map((tick) => ({ ...tick, at: iso(tick.at) })),
  }
}

function iso(at: number): string {
  return new Date(at).toISOString()
}
