/** `proviso schema portability`: reports what each provider's structured output enforces, weakens or rejects in a schema. */
import type { Command } from 'commander'
import { type Portability, portability } from '../../adapters/models/index.ts'
import { compileSchema } from '../../schema/compile/compile.ts'
import { exitCode } from '../exit-codes.ts'
import { readSchema } from '../input/read-schema.ts'
import { printJson, printProblem, printText } from '../print.ts'

const meanings = {
  enforced: 'enforced: the provider enforces the whole schema',
  weakened: 'weakened: the listed parts are checked only after the answer',
  refused: 'refused: the schema goes into the prompt, and is checked after the answer',
} as const satisfies Record<Portability['verdict'], string>

export function addSchemaPortabilityCommand(schema: Command): void {
  schema
    .command('portability')
    .description(
      'report which parts of a schema each provider enforces, weakens or rejects, without any call',
    )
    .argument('<file>', 'JSON Schema, a JSON file')
    .option('--json', 'print one JSON object, with the schema sent to each provider')
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
