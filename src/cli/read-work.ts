/** What a run is made of, as far as files bring it: the run file and the modules of `--use`, put together. */
import type { Command } from 'commander'
import type { ConfigFlags } from './config-option.ts'
import { printWarnings } from './print.ts'
import type { Unreadable } from './read-input.ts'
import { isPipelineFile, readPipelineFile } from './read-pipeline-file.ts'
import { readRunFile } from './read-run-file.ts'
import { useModules } from './use-modules.ts'
import type { Work } from './work.ts'

export type { Work } from './work.ts'

export interface WorkFlags extends ConfigFlags {
  readonly file?: string
  readonly use: readonly string[]
}

/** What a command that starts something may say besides. */
export interface StartFlags extends WorkFlags {
  readonly file: string
  /** What a pipeline is given. */
  readonly input?: string
}

/** For commands that go on with a run: of a pipeline only the capabilities are needed. */
export async function readWork(flags: WorkFlags): Promise<Work | { readonly unreadable: Unreadable }> {
  const { file } = flags
  if (file !== undefined && isPipelineFile(file))
    return readPipelineFile({ ...flags, file, wanted: 'capabilities' })
  return readRunWork(flags)
}

/** For commands that begin with a file. */
export async function readStart(flags: StartFlags): Promise<Work | { readonly unreadable: Unreadable }> {
  if (isPipelineFile(flags.file)) return readPipelineFile({ ...flags, wanted: 'run' })
  if (flags.input === undefined) return readRunWork(flags)
  return {
    unreadable: {
      message: `--input is for pipelines, and ${flags.file} is none`,
      hint: 'Put the inputs into the envelope, or give a .yaml file',
    },
  }
}

async function readRunWork(flags: WorkFlags): Promise<Work | { readonly unreadable: Unreadable }> {
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

/** `--input`, for pipelines. */
export function addInputOption(command: Command): Command {
  return command.option(
    '-i, --input <value>',
    'what a pipeline is given: JSON, a text, @FILE, or "-" for stdin',
  )
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
