#!/usr/bin/env node
/** Entry point of the command `proviso`: registers the commands, and maps every outcome to an exit code. */
import { Command, CommanderError } from 'commander'
import { ProvisoError } from '../base/errors/error.ts'
import { describeExitCodes, exitCode } from './exit-codes.ts'
import { listenForInterrupts } from './interrupt.ts'
import { printIssues, printNote, printProblem, surviveClosedPipes } from './print.ts'
import { version } from './version.ts'

/** The route that does the same as a command, for a store that a server has open. */
const routes: Readonly<Record<string, string>> = {
  run: 'POST /api/v1/flex/run.stream',
  reply: 'POST /api/v1/flex/hitl/resolve',
  cancel: 'POST /api/v1/flex/runs/:runId/cancel',
  resume: 'POST /api/v1/flex/run.resume',
  schedule: 'POST /api/v1/flex/schedules',
  erase: 'POST /api/v1/flex/erase',
  token: 'POST /api/v1/flex/tokens, …/tokens/:tokenId/rotate',
  secrets: 'POST /api/v1/flex/secrets/reseal',
}

/** Replaces the library's hint for a locked store: on the command line a server usually holds the file, and library options do not apply. */
function whileLocked(name: string): string {
  const route = Object.hasOwn(routes, name) ? routes[name] : undefined
  if (route === undefined) return 'Stop the process that holds it, or pass another file with --store'
  return `If a server holds it, use the server (${route}); else stop that process, or pass another file with --store`
}

/** Adds one command, or a group of them, to the program. */
type AddCommand = (program: Command) => void

/** Every command with its loader, in the order of `proviso --help`. Loading is lazy, one command's modules only, for a fast start. */
const commands: Readonly<Record<string, () => Promise<AddCommand>>> = {
  parse: async () => (await import('./commands/parse.ts')).addParseCommand,
  prove: async () => (await import('./commands/prove.ts')).addProveCommand,
  validate: async () => (await import('./commands/validate.ts')).addValidateCommand,
  graph: async () => (await import('./commands/graph.ts')).addGraphCommand,
  run: async () => (await import('./commands/run.ts')).addRunCommand,
  serve: async () => (await import('./commands/serve.ts')).addServeCommand,
  worker: async () => (await import('./commands/worker.ts')).addWorkerCommand,
  asks: async () => (await import('./commands/asks.ts')).addAsksCommand,
  tasks: async () => (await import('./commands/tasks.ts')).addTasksCommand,
  reply: async () => (await import('./commands/reply.ts')).addReplyCommand,
  runs: async () => (await import('./commands/runs.ts')).addRunsCommand,
  show: async () => (await import('./commands/show.ts')).addShowCommand,
  cancel: async () => (await import('./commands/cancel.ts')).addCancelCommand,
  memory: async () => (await import('./commands/memory.ts')).addMemoryCommand,
  thread: async () => (await import('./commands/thread.ts')).addThreadCommand,
  schedule: async () => (await import('./commands/schedule.ts')).addScheduleCommand,
  resume: async () => (await import('./commands/resume.ts')).addResumeCommand,
  replay: async () => (await import('./commands/replay.ts')).addReplayCommand,
  verify: async () => (await import('./commands/verify.ts')).addVerifyCommand,
  'health-check': async () => (await import('./commands/health-check.ts')).addHealthCheckCommand,
  erase: async () => (await import('./commands/erase.ts')).addEraseCommand,
  audit: async () => (await import('./commands/audit.ts')).addAuditCommand,
  deliveries: async () => (await import('./commands/deliveries.ts')).addDeliveriesCommand,
  status: async () => (await import('./commands/status.ts')).addStatusCommand,
  doctor: async () => (await import('./commands/doctor.ts')).addDoctorCommand,
  backup: async () => (await import('./commands/backup.ts')).addBackupCommand,
  restore: async () => (await import('./commands/restore.ts')).addRestoreCommand,
  prune: async () => (await import('./commands/prune.ts')).addPruneCommand,
  config: async () => (await import('./commands/config.ts')).addConfigCommand,
  schema: async () => (await import('./commands/schema.ts')).addSchemaCommands,
  token: async () => (await import('./commands/token.ts')).addTokenCommands,
  mcp: async () => (await import('./commands/mcp.ts')).addMcpCommands,
  secrets: async () => (await import('./commands/secrets.ts')).addSecretsCommands,
  dev: async () => (await import('./commands/health-check.ts')).addDevCommands,
}

const versionFlags: readonly string[] = ['-V', '--version']

/** Grace period for open handles, such as output that is still being written, before the process exits. */
const lingerMs = 2_000

surviveClosedPipes()
listenForInterrupts()
await main(process.argv)

async function main(argv: readonly string[]): Promise<void> {
  try {
    const program = await createProgram(argv[2] ?? '')
    await program.parseAsync(argv)
  } catch (error) {
    process.exitCode = explainError(error, argv[2] ?? '')
  }
  // A capability that ignores its abort signal would otherwise keep the process alive.
  setTimeout(() => process.exit(), lingerMs).unref()
}

/** Builds the program with the named command alone, or with every command if the name is unknown (`--help`, a misspelling). */
async function createProgram(name: string): Promise<Command> {
  const program = new Command('proviso')
    .description(
      'run AI agents under contract: prove the plan first, ask people where required, record every step',
    )
    .version(version())
    .exitOverride()
    .showHelpAfterError('(add --help for usage and examples)')
    .addHelpText('after', `\n${describeExitCodes()}`)
  const loads = versionFlags.includes(name) ? [] : Object.values(onlyNamed(name) ?? commands)
  for (const add of await Promise.all(loads.map((load) => load()))) add(program)
  addColorOption(program)
  return program
}

/** `--no-color` for every command; `env` reads it before the options are parsed. */
function addColorOption(command: Command): void {
  command.option('--no-color', 'print without colours, as with NO_COLOR')
  for (const inner of command.commands) addColorOption(inner)
}

function onlyNamed(name: string): typeof commands | undefined {
  const load = Object.hasOwn(commands, name) ? commands[name] : undefined
  return load && { [name]: load }
}

/** Prints the error that ended the command, unless commander already has, and returns the exit code. */
function explainError(error: unknown, name: string): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCode('ok') : exitCode('usage')
  if (error instanceof ProvisoError) {
    printProblem(error.message, error.code === 'store/locked' ? whileLocked(name) : error.hint)
    printIssues(error.issues ?? [], 'the value', '')
    return error.exitCode
  }
  printProblem(
    'this is a bug in Proviso',
    'Please report it with the text below and the input that caused it',
  )
  printNote(error instanceof Error ? (error.stack ?? error.message) : String(error))
  return exitCode('internal')
}
