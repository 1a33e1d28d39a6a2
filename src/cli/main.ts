#!/usr/bin/env node
/** The command `proviso`: registers the commands, and turns every way of ending into an exit code. */
import { Command, CommanderError } from 'commander'
import { ProvisoError } from '../base/error.ts'
import { describeExitCodes, exitCode } from './exit-codes.ts'
import { listenForInterrupts } from './interrupt.ts'
import { printIssues, printNote, printProblem, surviveClosedPipes } from './print.ts'
import { version } from './version.ts'

/** On the command line it is nearly always a server that has the file, and nobody can open a store with an option of the library. */
const whileLocked =
  'If it is a server, ask it instead (POST /api/v1/flex/hitl/resolve answers an ask, …/tokens makes a token); else stop it, or name another file with --store'

/** Adds one command, or a group of them, to the program. */
type AddCommand = (program: Command) => void

/** Every command with what loads it, in the order of `proviso --help`. A command loads its own modules only, so that it starts fast. */
const commands: Readonly<Record<string, () => Promise<AddCommand>>> = {
  parse: async () => (await import('./commands/parse.ts')).addParseCommand,
  prove: async () => (await import('./commands/prove.ts')).addProveCommand,
  validate: async () => (await import('./commands/validate.ts')).addValidateCommand,
  run: async () => (await import('./commands/run.ts')).addRunCommand,
  serve: async () => (await import('./commands/serve.ts')).addServeCommand,
  asks: async () => (await import('./commands/asks.ts')).addAsksCommand,
  reply: async () => (await import('./commands/reply.ts')).addReplyCommand,
  runs: async () => (await import('./commands/runs.ts')).addRunsCommand,
  show: async () => (await import('./commands/show.ts')).addShowCommand,
  cancel: async () => (await import('./commands/cancel.ts')).addCancelCommand,
  resume: async () => (await import('./commands/resume.ts')).addResumeCommand,
  replay: async () => (await import('./commands/replay.ts')).addReplayCommand,
  verify: async () => (await import('./commands/verify.ts')).addVerifyCommand,
  'health-check': async () => (await import('./commands/health-check.ts')).addHealthCheckCommand,
  prune: async () => (await import('./commands/prune.ts')).addPruneCommand,
  config: async () => (await import('./commands/config.ts')).addConfigCommand,
  schema: async () => (await import('./commands/schema.ts')).addSchemaCommands,
  token: async () => (await import('./commands/token.ts')).addTokenCommands,
  dev: async () => (await import('./commands/dev.ts')).addDevCommands,
}

const versionFlags: readonly string[] = ['-V', '--version']

/** How long what is still open may take to end by itself, such as output that is being written. */
const lingerMs = 2_000

surviveClosedPipes()
listenForInterrupts()
await main(process.argv)

async function main(argv: readonly string[]): Promise<void> {
  try {
    const program = await createProgram(argv[2] ?? '')
    await program.parseAsync(argv)
  } catch (error) {
    process.exitCode = explainError(error)
  }
  // A capability that does not heed its signal would keep the process for as long as it likes.
  setTimeout(() => process.exit(), lingerMs).unref()
}

/** Builds the program with the named command alone, or with every command where the name is not one (`--help`, a misspelling). */
async function createProgram(name: string): Promise<Command> {
  const program = new Command('proviso')
    .description(
      'Runs AI agents under contract: drafts that are proved first, people asked where they must be, every step on record.',
    )
    .version(version())
    .exitOverride()
    .showHelpAfterError('(add --help for usage and examples)')
    .addHelpText('after', `\n${describeExitCodes()}`)
  const loads = versionFlags.includes(name) ? [] : Object.values(onlyNamed(name) ?? commands)
  for (const add of await Promise.all(loads.map((load) => load()))) add(program)
  return program
}

function onlyNamed(name: string): typeof commands | undefined {
  const load = Object.hasOwn(commands, name) ? commands[name] : undefined
  return load && { [name]: load }
}

/** Says what ended the command, unless commander already has, and returns the exit code. */
function explainError(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCode('ok') : exitCode('usage')
  if (error instanceof ProvisoError) {
    printProblem(error.message, error.code === 'store/locked' ? whileLocked : error.hint)
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
