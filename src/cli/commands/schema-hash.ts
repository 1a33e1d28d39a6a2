/** `proviso schema hash`: prints the hash of a schema, the same for every spelling of it. */
import type { Command } from 'commander'
import { schemaHash } from '../../output/index.ts'
import { readSchema } from '../input/read-schema.ts'
import { printText, refuse } from '../print.ts'

export function addSchemaHashCommand(schema: Command): void {
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
