/** `proviso schema portability`: reports what each provider's structured output enforces, weakens or rejects in a schema. */
import type { Command } from 'commander'
import { type Portability, portability } from '../../adapters/models/index.ts'
import { compileSchema } from '../../schema/compile/compile.ts'
import { exitCode } from '../exit-codes.ts'
import { readSchema } from '../input/read-schema.ts'
import { printJson, printProblem, printText } from '../print.ts'

const meanings = {
  enforced: 'enforced: the model is held to all of it',
  weakened: 'weakened: what is listed is only checked afterwards',
  refused: 'refused: the schema goes into the prompt, and is checked afterwards',
} as const satisfies Record<Portability['verdict'], string>

export function addSchemaPortabilityCommand(schema: Command): void {
  schema
    .command('portability')
    .description('Says what each provider enforces, weakens or refuses of the schema. Nothing is called.')
    .argument('<file>', 'JSON Schema, a JSON file')
    .option('--json', 'print it as one JSON object on one line, with the schema that would be sent')
    .action(async (file: string, flags: { readonly json?: true }) => {
      const found = await readSchema(file)
      if ('unreadable' in found) {
        printProblem(found.unreadable.message, found.unreadable.hint)
        process.exitCode = exitCode('usage')
        return
      }
      // Throws for an invalid schema, which ends the command.
      compileSchema(found.schema)
      const providers = portability(found.schema)
      if (flags.json) printJson({ providers }, 'line')
      else printText(providers.map(describe).join('\n\n'))
    })
}

function describe({ provider, verdict, notes }: Portability): string {
  const lines = notes.map(
    ({ kind, pointer, message }) => `  ${kind.padEnd(8)} ${pointer || '(root)'}: ${message}`,
  )
  return [`${provider}  ${meanings[verdict]}`, ...lines].join('\n')
}
