/** `proviso schema pipeline`: prints the JSON Schema of pipeline files, for editors. */
import type { Command } from 'commander'
import { pipelineSchema } from '../../pipeline/index.ts'
import { printJson } from '../print.ts'

const notes = `
Example, for editors that speak the YAML language server's protocol:
  proviso schema pipeline > pipeline.schema.json
  # yaml-language-server: $schema=pipeline.schema.json     (first line of the pipeline)`

export function addSchemaPipelineCommand(schema: Command): void {
  schema
    .command('pipeline')
    .description('print the JSON Schema of pipeline files, for completion and checks in editors')
    .addHelpText('after', notes)
    .action(() => printJson(pipelineSchema(), 'indented'))
}
