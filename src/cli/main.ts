#!/usr/bin/env node
/** The command `proviso`: registers the commands, and turns every way of ending into an exit code. */
import { Command, CommanderError } from 'commander'
import { ProvisoError } from '../base/error.ts'
import { addAsksCommand } from './commands/asks.ts'
import { addCancelCommand } from './commands/cancel.ts'
import { addConfigCommand } from './commands/config.ts'
import { addHealthCheckCommand } from './commands/health-check.ts'
import { addParseCommand } from './commands/parse.ts'
import { addProveCommand } from './commands/prove.ts'
import { addPruneCommand } from './commands/prune.ts'
import { addReplayCommand } from './commands/replay.ts'
import { addReplyCommand } from './commands/reply.ts'
import { addResumeCommand } from './commands/resume.ts'
import { addRunCommand } from './commands/run.ts'
import { addRunsCommand } from './commands/runs.ts'
import { addSchemaHashCommand } from './commands/schema-hash.ts'
import { addSchemaPipelineCommand } from './commands/schema-pipeline.ts'
import { addSchemaPortabilityCommand } from './commands/schema-portability.ts'
import { addSchemaSimplifyCommand } from './commands/schema-simplify.ts'
import { addServeCommand } from './commands/serve.ts'
import { addShowCommand } from './commands/show.ts'
import { addTokenCreateCommand } from './commands/token-create.ts'
import { addTokenListCommand } from './commands/token-list.ts'
import { addTokenRevokeCommand } from './commands/token-revoke.ts'
import { addValidateCommand } from './commands/validate.ts'
import { addVerifyCommand } from './commands/verify.ts'
import { describeExitCodes, exitCode } from './exit-codes.ts'
import { listenForInterrupts } from './interrupt.ts'
import { printIssues, printNote, printProblem, surviveClosedPipes } from './print.ts'
import { version } from './version.ts'

/** On the command line it is nearly always a server that has the file, and nobody can open a store with an option of the library. */
const whileLocked =
  'If it is a server, ask it instead (POST /api/v1/flex/hitl/resolve answers an ask, …/tokens makes a token); else stop it, or name another file with --store'

/** In the order of `proviso --help`. */
const commands = [
  addParseCommand,
  addProveCommand,
  addValidateCommand,
  addRunCommand,
  addServeCommand,
  addAsksCommand,
  addReplyCommand,
  addRunsCommand,
  addShowCommand,
  addCancelCommand,
  addResumeCommand,
  addReplayCommand,
  addVerifyCommand,
  addHealthCheckCommand,
  addPruneCommand,
  addConfigCommand,
]

/** How long what is still open may take to end by itself, such as output that is being written. */
const lingerMs = 2_000

surviveClosedPipes()
listenForInterrupts()
await main(process.argv)

async function main(argv: readonly string[]): Promise<void> {
  try {
    await createProgram().parseAsync(argv)
  } catch (error) {
    process.exitCode = explainError(error)
  }
  // A capability that does not heed its signal would keep the process for as long as it likes.
  setTimeout(() => process.exit(), lingerMs).unref()
}

function createProgram(): Command {
  const program = new Command('proviso')
    .description(
      'Runs AI agents under contract: drafts that are proved first, people asked where they must be, every step on record.',
    )
    .version(version())
    .exitOverride()
    .showHelpAfterError('(add --help for usage and examples)')
    .addHelpText('after', `\n${describeExitCodes()}`)
  for (const add of commands) add(program)
  const schema = program.command('schema').description('Names, simplifies and compares JSON Schemas.')
  addSchemaHashCommand(schema)
  addSchemaPortabilityCommand(schema)
  addSchemaSimplifyCommand(schema)
  addSchemaPipelineCommand(schema)
  const token = program.command('token').description('Makes, lists and revokes the tokens of a server.')
  addTokenCreateCommand(token)
  addTokenListCommand(token)
  addTokenRevokeCommand(token)
  addHealthCheckCommand(program.command('dev').description('For those who look after pipelines.'))
  return program
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
