/** `proviso schema`: groups the commands about JSON Schemas. */
import type { Command } from 'commander'
import { type Portability, portability } from '../../adapters/models/index.ts'
import { schemaHash, simplifySchema } from '../../output/index.ts'
import { pipelineSchema } from '../../pipeline/index.ts'
import { compileSchema } from '../../schema/compile/compile.ts'
import { exitCode } from '../exit-codes.ts'
import { readSchema } from '../input/read-schema.ts'
import { printJson, printProblem, printText, refuse } from '../print.ts'

export function addSchemaCommands(program: Command): void {
  const schema = program.command('schema').description('hash, simplify and compare JSON Schemas')
  addSchemaHashCommand(schema)
  addSchemaPortabilityCommand(schema)
  addSchemaSimplifyCommand(schema)
  addSchemaPipelineCommand(schema)
}

// `proviso schema hash`: prints the hash of a schema, the same for every spelling of it.

function addSchemaHashCommand(schema: Command): void {
  schema
    .command('hash')
    .description('print the SHA-256 of a schema as canonical JSON, independent of key order and white space')
    .argument('<file>', 'JSON Schema, a JSON file')
    .action(async (file: string) => {
      const found = await readSchema(file)
      if ('schema' in found) {
        printText(schemaHash(found.schema))
      } else {
        process.exitCode = refuse(found.unreadable)
      }
    })
}

// `proviso schema simplify`: prints a flat schema of strings that a weak model can still fill in.

function addSchemaSimplifyCommand(schema: Command): void {
  schema
    .command('simplify')
    .description('print a flat object of string fields for a schema; the library converts values back')
    .argument('<file>', 'JSON Schema, a JSON file')
    .action(async (file: string) => {
      const found = await readSchema(file)
      if ('schema' in found) {
        printJson(simplifySchema(found.schema).schema, 'indented')
      } else {
        process.exitCode = refuse(found.unreadable)
      }
    })
}

// `proviso schema portability`: reports what each provider's structured output enforces, weakens or rejects in a schema.

const meanings = {
  enforced: 'enforced: the provider enforces the whole schema',
  weakened: 'weakened: the listed parts are checked only after the answer',
  refused: 'refused: the schema goes into the prompt, and is checked after the answer',
} as const satisfies Record<Portability['verdict'], string>

function addSchemaPortabilityCommand(schema: Command): void {
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

// `proviso schema pipeline`: prints the JSON Schema of pipeline files, for editors.

const notes = `
Example, for editors that speak the YAML language server's protocol:
  proviso schema pipeline > pipeline.schema.json
  # yaml-language-server: $schema=pipeline.schema.json     (first line of the pipeline)`

function addSchemaPipelineCommand(schema: Command): void {
  schema
    .command('pipeline')
    .description('print the JSON Schema of pipeline files, for completion and checks in editors')
    .addHelpText('after', notes)
    .action(() => printJson(pipelineSchema(), 'indented'))
}
