/** What a run is made of, as far as files bring it: the run file and the modules of `--use`, put together. */
import type { Command } from 'commander'
import type { DefinedCapability } from '../app.ts'
import type { Facet } from '../domain/facet.ts'
import { printWarnings } from './print.ts'
import type { Unreadable } from './read-input.ts'
import { type RunFile, readRunFile } from './read-run-file.ts'
import { useModules } from './use-modules.ts'

export interface WorkFlags {
  readonly file?: string
  readonly use: readonly string[]
}

export interface Work extends Partial<Pick<RunFile, 'envelope' | 'draft'>> {
  readonly capabilities: readonly DefinedCapability[]
  readonly facets: readonly Facet[]
}

export async function readWork(flags: WorkFlags): Promise<Work | { readonly unreadable: Unreadable }> {
  const file = flags.file === undefined ? undefined : await readRunFile(flags.file)
  if (file && 'unreadable' in file) return file
  const used = await useModules(flags.use)
  if ('unreadable' in used) return used
  if (file) printWarnings(file.warnings)
  return {
    ...(file && { envelope: file.envelope }),
    ...(file?.draft && { draft: file.draft }),
    capabilities: [...(file?.capabilities ?? []), ...used.capabilities],
    facets: used.facets,
  }
}

/** `--use`, once per module: a list would take the argument that follows it. */
export function addUseOption(command: Command): Command {
  return command.option(
    '-u, --use <file>',
    'ES module that exports capabilities; may be repeated',
    collect,
    [],
  )
}

/** The run file, for commands that go on with a run and need its capabilities again. */
export function addFileOption(command: Command): Command {
  return command.option('-f, --file <file>', 'file that the run was started with: brings its capabilities')
}

function collect(file: string, before: readonly string[]): readonly string[] {
  return [...before, file]
}
