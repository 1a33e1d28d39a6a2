/** `proviso schema simplify`: prints a flat schema of strings that a weak model can still fill in. */
import type { Command } from 'commander'
import { simplifySchema } from '../../output/index.ts'
import { readSchema } from '../input/read-schema.ts'
import { printJson, refuse } from '../print.ts'

export function addSchemaSimplifyCommand(schema: Command): void {
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
