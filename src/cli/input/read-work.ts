/** Reads the input of a run from files: the run file combined with the modules of `--use`. */
import type { Command } from 'commander'
import { printWarnings } from '../print.ts'
import type { Unreadable } from '../read-input.ts'
import { type ConfigFlags, readSettings } from './config-option.ts'
import { isPipelineFile, readPipelineFile } from './read-pipeline-file.ts'
import { readRunFile, type Work } from './read-run-file.ts'
import { isTemplateFile, readTemplateFile } from './read-template-file.ts'
import { useModules } from './use-modules.ts'

export type { Work } from './read-run-file.ts'

export interface WorkFlags extends ConfigFlags {
  readonly file?: string
  readonly use: readonly string[]
  /** `--preset`; `[catalog] presets` adds to it. */
  readonly preset?: readonly string[]
}

/** Flags of commands that start a run. */
interface StartFlags extends WorkFlags {
  readonly file: string
  /** Inputs of a pipeline or a template, in command line order. */
  readonly input?: readonly string[]
}

/** For commands that continue a run: from a pipeline or a template only the capabilities are needed. */
export async function readWork(flags: WorkFlags): Promise<Work | { readonly unreadable: Unreadable }> {
  const { file } = flags
  if (file !== undefined && isPipelineFile(file))
    return readPipelineFile({ ...flags, file, wanted: 'capabilities' })
  if (file !== undefined && isTemplateFile(file))
    return readTemplateFile({ ...flags, file, wanted: 'capabilities' })
  return readRunWork(flags)
}

/** For commands that start from a file. */
export async function readStart(flags: StartFlags): Promise<Work | { readonly unreadable: Unreadable }> {
  const { file, input: given = [], ...rest } = flags
  if (isTemplateFile(file)) return readTemplateFile({ ...rest, file, given, wanted: 'run' })
  const [input, second] = given
  if (isPipelineFile(file) && second === undefined)
    return readPipelineFile({ ...rest, file, ...(input !== undefined && { input }), wanted: 'run' })
  if (isPipelineFile(file))
    return {
      unreadable: { message: 'a pipeline takes one --input', hint: 'Put all of it into one JSON value' },
    }
  if (input === undefined) return readRunWork(flags)
  return {
    unreadable: {
      message: `--input is for pipelines and templates, and ${file} is neither`,
      hint: 'Put the inputs into the envelope, or give a .yaml or .xml file',
    },
  }
}

async function readRunWork(flags: WorkFlags): Promise<Work | { readonly unreadable: Unreadable }> {
  const file = flags.file === undefined ? undefined : await readRunFile(flags.file)
  if (file && 'unreadable' in file) return file
  const settings = await readSettings(flags)
  if ('unreadable' in settings) return settings
  const { aros, use, serve } = settings.config
  const used = await useModules([...use, ...flags.use], [...serve.presets, ...(flags.preset ?? [])])
  if ('unreadable' in used) return used
  if (file) printWarnings(file.warnings)
  return {
    ...(file && { envelope: file.envelope }),
    ...(file?.draft && { draft: file.draft }),
    capabilities: [...(file?.capabilities ?? []), ...used.capabilities],
    facets: used.facets,
    stages: used.stages,
    planner: serve.planner,
    storeRaw: aros.storeRaw,
  }
}

/** `--input`, for pipelines and templates. */
export function addInputOption(command: Command): Command {
  return command.option(
    '-i, --input <value>',
    'input of a pipeline: JSON, text, @FILE, or "-" for stdin; for templates also NAME=VALUE, repeatable',
    collect,
    [],
  )
}

/** `--use` takes one module and may be repeated: a list would consume the argument that follows it. */
export function addUseOption(command: Command): Command {
  return command
    .option('-u, --use <file>', 'load capabilities from an ES module; repeatable', collect, [])
    .option('--preset <name>', 'load built-in facets and capabilities: marketing; repeatable', collect, [])
}

/** `--file` for commands that continue a run and need its capabilities again. */
export function addFileOption(command: Command): Command {
  return command.option('-f, --file <file>', 'load capabilities from the file of the run')
}

function collect(file: string, before: readonly string[]): readonly string[] {
  return [...before, file]
}
