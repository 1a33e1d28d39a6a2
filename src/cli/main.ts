#!/usr/bin/env node
/** The command `proviso`: registers the commands, and turns every way of ending into an exit code. */
import { readFileSync } from 'node:fs'
import { Command, CommanderError } from 'commander'
import { ProvisoError } from '../base/error.ts'
import { addParseCommand } from './commands/parse.ts'
import { addSchemaHashCommand } from './commands/schema-hash.ts'
import { addSchemaSimplifyCommand } from './commands/schema-simplify.ts'
import { describeExitCodes, exitCode } from './exit-codes.ts'
import { printNote, printProblem, surviveClosedPipes } from './print.ts'

surviveClosedPipes()
process.once('SIGINT', () => process.exit(exitCode('interrupted')))
await main(process.argv)

async function main(argv: readonly string[]): Promise<void> {
  try {
    await createProgram().parseAsync(argv)
  } catch (error) {
    process.exitCode = explainError(error)
  }
}

function createProgram(): Command {
  const program = new Command('proviso')
    .description(
      'Runs AI agents under contract. Today it reads model text into JSON that satisfies a schema.',
    )
    .version(version())
    .exitOverride()
    .showHelpAfterError('(add --help for usage and examples)')
    .addHelpText('after', `\n${describeExitCodes()}`)
  addParseCommand(program)
  const schema = program.command('schema').description('Names and simplifies JSON Schemas.')
  addSchemaHashCommand(schema)
  addSchemaSimplifyCommand(schema)
  return program
}

/** Says what ended the command, unless commander already has, and returns the exit code. */
function explainError(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCode('ok') : exitCode('usage')
  if (error instanceof ProvisoError) {
    printProblem(error.message, error.hint)
    return error.exitCode
  }
  printProblem(
    'this is a bug in Proviso',
    'Please report it with the text below and the input that caused it',
  )
  printNote(error instanceof Error ? (error.stack ?? error.message) : String(error))
  return exitCode('internal')
}

function version(): string {
  return JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version
}
