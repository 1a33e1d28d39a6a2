/** What a run is made of, as far as files bring it: the run file and the modules of `--use`, put together. */
import type { Command } from 'commander'
import type { DefinedCapability } from '../app.ts'
import type { Facet } from '../domain/facet.ts'
import type { Inputs } from './input-option.ts'
import { printWarnings } from './print.ts'
import type { Unreadable } from './read-input.ts'
import { type RunFile, readRunFile } from './read-run-file.ts'
import { isTemplateFile, readTemplateFile } from './read-template-file.ts'
import { useModules } from './use-modules.ts'

export interface WorkFlags {
  readonly file?: string
  readonly use: readonly string[]
  /** For templates; absent where only their capabilities are wanted. */
  readonly inputs?: Inputs
}

export interface Work extends Partial<Pick<RunFile, 'envelope' | 'draft'>> {
  readonly capabilities: readonly DefinedCapability[]
  readonly facets: readonly Facet[]
}

export async function readWork(flags: WorkFlags): Promise<Work | { readonly unreadable: Unreadable }> {
  const file = flags.file === undefined ? undefined : await readFile(flags.file, flags.inputs)
  if (file && 'unreadable' in file) return file
  const used = await useModules(flags.use)
  if ('unreadable' in used) return used
  if (file) printWarnings(file.warnings)
  return {
    ...(file?.envelope && { envelope: file.envelope }),
    ...(file?.draft && { draft: file.draft }),
    capabilities: [...without(file?.capabilities ?? [], flags, used.capabilities), ...used.capabilities],
    facets: used.facets,
  }
}

type ReadFile =
  | (Partial<RunFile> & Pick<RunFile, 'capabilities' | 'warnings'>)
  | { readonly unreadable: Unreadable }

async function readFile(file: string, inputs: Inputs | undefined): Promise<ReadFile> {
  if (isTemplateFile(file)) return readTemplateFile(file, inputs)
  if (inputs === undefined || Object.keys(inputs).length === 0) return readRunFile(file)
  const hint = 'Write them into its envelope; --input is for templates'
  return { unreadable: { message: `${file} takes no --input`, hint } }
}

/** What stands for a model in a template gives way to a program of the same name; a run file says itself who does what. */
function without(
  own: readonly DefinedCapability[],
  { file = '' }: WorkFlags,
  used: readonly DefinedCapability[],
): readonly DefinedCapability[] {
  if (!isTemplateFile(file)) return own
  const taken = new Set(used.map(({ capability }) => capability.capabilityId))
  return own.filter(({ capability }) => !taken.has(capability.capabilityId))
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
