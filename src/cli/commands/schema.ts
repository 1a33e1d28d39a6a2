/** `proviso schema`: groups the commands about JSON Schemas. */
import type { Command } from 'commander'
import { addSchemaHashCommand } from './schema-hash.ts'
import { addSchemaPipelineCommand } from './schema-pipeline.ts'
import { addSchemaPortabilityCommand } from './schema-portability.ts'
import { addSchemaSimplifyCommand } from './schema-simplify.ts'

export function addSchemaCommands(program: Command): void {
  const schema = program.command('schema').description('hash, simplify and compare JSON Schemas')
  addSchemaHashCommand(schema)
  addSchemaPortabilityCommand(schema)
  addSchemaSimplifyCommand(schema)
  addSchemaPipelineCommand(schema)
}
