/** `proviso memory`: lists what agents remember, and deletes it. */
import { type Command, Option } from 'commander'
import { ProvisoError } from '../../base/errors/error.ts'
import { forget, listMemories } from '../../domain/memory/memories.ts'
import { type Memory, rankMemories } from '../../domain/memory/memory-tools.ts'
import { describeExitCodes } from '../exit-codes.ts'
import { addStoreOption, chooseExistingStore, readShown, writeStore } from '../options/store-option.ts'
import { printJson, printNote, printText, redactor } from '../print.ts'
import { table } from '../render/table.ts'

interface Flags {
  readonly store?: string
  readonly tenant: string
  readonly search?: string
  readonly json?: true
}

export function addMemoryCommand(program: Command): void {
  const command = program
    .command('memory')
    .summary('show and delete what agents remember')
    .description('show and delete what agents remember with the memory tools')
  const exits = `\n${describeExitCodes(['ok', 'usage'])}`
  addStoreOption(command.command('list').description('list memories, newest first'))
    .addOption(tenantOption())
    .option('--search <words>', 'filter by words, best match first')
    .option('--json', 'print one JSON list')
    .addHelpText('after', exits)
    .action(async ({ store, tenant, search, json }: Flags) => {
      const all = await readShown(chooseExistingStore(store), ({ records }) =>
        listMemories(records.documents, tenant),
      )
      const found = search === undefined ? all : rankMemories(all, search)
      // The redactor keeps the shape of the value, so the cast is safe.
      const memories = redactor.value(found) as readonly Memory[]
      if (json) return printJson(memories, 'line')
      if (memories.length === 0) return printNote('No memories found.')
      printText(table(['MEMORY', 'TAGS', 'RUN', 'TEXT'], memories.map(cells)))
    })
  addStoreOption(
    command
      .command('forget')
      .description('delete a memory')
      .argument('<memory>', 'id from `proviso memory list`'),
  )
    .addOption(tenantOption())
    .option('--json', 'print the result as JSON')
    .addHelpText('after', exits)
    .action(async (id: string, { store, tenant, json }: Flags) => {
      const isGone = await writeStore(chooseExistingStore(store), ({ records }) =>
        forget(records.documents, tenant, id),
      )
      if (!isGone) throw new ProvisoError('memory/missing', `Memory "${id}" not found`)
      if (json) printJson({ ok: true, id }, 'line')
      else printNote(`Deleted memory ${id}.`)
    })
}

const tenantOption = () => new Option('--tenant <name>', 'tenant of the memories').default('default')

function cells({ id, tags, runId, text }: Memory): string[] {
  return [id, tags.join(','), runId, text]
}
