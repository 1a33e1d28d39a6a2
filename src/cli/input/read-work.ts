/** Reads what a command executes: a run file, a YAML pipeline or an XML template, combined with the settings and with the modules of `--use`. */
import type { Command } from 'commander'
import { type DefinedCapability, defineCapability } from '../../app.ts'
import { isObject, type Json, setOwn } from '../../base/json.ts'
import { parseDraft } from '../../domain/draft/parse-draft.ts'
import { parseEnvelope } from '../../domain/envelope/parse-envelope.ts'
import type { Facet } from '../../domain/facet.ts'
import type { Draft } from '../../domain/plan.ts'
import { conditionIssues } from '../../engine/decide/checks/conditions.ts'
import { type CustomStage, detectJson } from '../../output/index.ts'
import {
  type Config,
  compilePipeline,
  compileTemplate,
  draftPipeline,
  listPipelineCapabilities,
  loadPipeline,
  type ParsedTemplate,
  type Pipeline,
  parseTemplate,
  type ServerSettings,
  type TemplateFile,
  templateCapabilities,
  xmlLimits,
  xmlTooLarge,
} from '../../pipeline/index.ts'
import { printNote, printWarnings } from '../print.ts'
import { readInput, type Unreadable } from '../read-input.ts'
import {
  type ConfigFlags,
  cannotUse,
  described,
  noteUnusedSettings,
  readSettings,
  settingsOfWork,
} from './config-option.ts'
import { getMcpServers, listMcpCapabilities, type McpServers } from './mcp-servers.ts'
import { readBytes } from './read-bytes.ts'
import { readJson } from './read-json.ts'
import { type RunFile, readRunFile } from './read-run-file.ts'
import { type Used, useModules } from './use-modules.ts'

/** The input of a command: envelope and draft, and the capabilities that execute them. */
export interface Work extends Partial<Pick<RunFile, 'envelope' | 'draft'>> {
  readonly capabilities: readonly DefinedCapability[]
  readonly facets: readonly Facet[]
  readonly stages?: readonly CustomStage[]
  /** Planner for envelopes without a draft. */
  readonly planner?: ServerSettings['planner']
  /** MCP servers of the settings. */
  readonly mcp?: McpServers
  /** Keep a ledger of corrections (`correction_ledger_enabled`). */
  readonly ledger?: boolean
  /** Keep the redacted raw texts of models (`store_raw`). */
  readonly storeRaw?: boolean
  /** Show the trace events of model calls while the run is executing (`telemetry.verbose`). */
  readonly verbose?: boolean
}

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
  const note = file && noteUnusedSettings(aros, 'a JSON run file')
  if (note !== undefined) printNote(note)
  return {
    ...(file && { envelope: file.envelope }),
    ...(file?.draft && { draft: file.draft }),
    capabilities: [...(file?.capabilities ?? []), ...used.capabilities],
    facets: used.facets,
    stages: used.stages,
    planner: serve.planner,
    ...getMcpServers(settings.config),
    ...settingsOfWork(aros),
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
    .option(
      '--preset <name>',
      'load built-in facets and capabilities: marketing, memory; repeatable',
      collect,
      [],
    )
}

/** `--file` for commands that continue a run and need its capabilities again. */
export function addFileOption(command: Command): Command {
  return command.option('-f, --file <file>', 'load capabilities from the file of the run')
}

function collect(file: string, before: readonly string[]): readonly string[] {
  return [...before, file]
}

export function isPipelineFile(file: string): boolean {
  return /\.ya?ml$/i.test(file)
}

interface PipelineFlags extends ConfigFlags {
  readonly file: string
  readonly use: readonly string[]
  readonly preset?: readonly string[]
  /** JSON, text, `@FILE`, or `-` for stdin. Absent if only the capabilities are needed. */
  readonly input?: string
  readonly wanted: 'run' | 'capabilities'
}

/** Reads the draft of a pipeline for any input. */
export async function readPipelineDraft(
  flags: StartFlags,
): Promise<{ readonly draft: Draft } | { readonly unreadable: Unreadable }> {
  const loaded = await loadWithSettings(flags)
  if ('unreadable' in loaded) return loaded
  const drafted = draftPipeline(loaded.pipeline, await compileOptions(loaded))
  return drafted.ok ? { draft: drafted.draft } : { unreadable: cannotUse(flags.file, drafted.issues) }
}

interface Loaded {
  readonly pipeline: Pipeline
  readonly config: Config
  readonly used: Used
}

/** Loads a YAML pipeline with its imports, the effective settings and the modules. */
async function loadWithSettings(
  flags: ConfigFlags & Pick<PipelineFlags, 'file' | 'use' | 'preset'>,
): Promise<Loaded | { readonly unreadable: Unreadable }> {
  const loaded = await loadPipeline(flags.file)
  if (!loaded.ok) return { unreadable: cannotUse(flags.file, loaded.issues) }
  const settings = await readSettings(flags)
  if ('unreadable' in settings) return settings
  const { use, serve } = settings.config
  const used = await useModules([...use, ...flags.use], [...serve.presets, ...(flags.preset ?? [])])
  return 'unreadable' in used ? used : { pipeline: loaded.pipeline, config: settings.config, used }
}

async function compileOptions({ pipeline, config, used }: Loaded) {
  const { mcp } = getMcpServers(config)
  return {
    aros: config.aros,
    capabilities: [...capabilitiesIn(used), ...(await listMcpCapabilities(mcp, pipeline))],
    stages: used.stages.map(({ name }) => name),
  }
}

/** Compiles a pipeline with the effective settings and the input. */
async function readPipelineFile(flags: PipelineFlags): Promise<Work | { readonly unreadable: Unreadable }> {
  const loaded = await loadWithSettings(flags)
  if ('unreadable' in loaded) return loaded
  const { pipeline, config, used } = loaded
  const brought: readonly DefinedCapability[] = listPipelineCapabilities(pipeline)
  const work = {
    capabilities: [...brought, ...used.capabilities],
    facets: used.facets,
    stages: used.stages,
    ...getMcpServers(config),
    ...settingsOfWork(config.aros),
  }
  if (flags.wanted === 'capabilities') return work
  const given = await readGiven(flags.input)
  if ('unreadable' in given) return given
  const compiled = compilePipeline(pipeline, { input: given.input, ...(await compileOptions(loaded)) })
  if (!compiled.ok) return { unreadable: cannotUse(flags.file, compiled.issues) }
  const { envelope: raw, draft: made, notes } = compiled.compiled
  for (const { location, message } of notes.map(described)) printNote(`note ${location}  ${message}`)
  const envelope = parseEnvelope(raw, { checkCondition: conditionIssues })
  const draft = parseDraft(made, { checkCondition: conditionIssues })
  if (envelope.ok && draft.ok) return { ...work, envelope: envelope.value, draft: draft.value }
  const issues = [...(envelope.ok ? [] : envelope.issues), ...(draft.ok ? [] : draft.issues)]
  return {
    unreadable: {
      message: `${flags.file} cannot be run`,
      issues: issues.map(({ at, message, hint }) => ({
        location: 'pointer' in at ? at.pointer : '',
        message,
        ...(hint !== undefined && { hint }),
      })),
    },
  }
}

function capabilitiesIn({ capabilities }: Used) {
  return capabilities.map(({ capability }) => capability)
}

/** Reads the pipeline's input: as JSON if it parses as JSON, else as text. */
async function readGiven(given: string | undefined): Promise<{ input: Json } | { unreadable: Unreadable }> {
  if (given === undefined) return { input: null }
  const file = given === '-' ? '-' : given.startsWith('@') ? given.slice(1) : undefined
  if (file === undefined) return { input: jsonOrText(given) }
  const read = await readInput(file, { maxBytes: 16 * 1024 * 1024 })
  return 'unreadable' in read ? read : { input: jsonOrText(read.text) }
}

function jsonOrText(text: string): Json {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

// `--input` for templates: a JSON object, a file that contains one, or NAME=VALUE.

type Inputs = { readonly [name: string]: Json }

/** Later inputs win. A VALUE that parses as JSON is that value, else text. */
async function readInputs(
  given: readonly string[],
): Promise<{ readonly inputs: Inputs } | { readonly unreadable: Unreadable }> {
  const inputs: { [name: string]: Json } = {}
  for (const each of given) {
    const read = await readOne(each)
    if ('unreadable' in read) return read
    for (const [name, value] of Object.entries(read.inputs)) setOwn(inputs, name, value)
  }
  return { inputs }
}

async function readOne(
  given: string,
): Promise<{ readonly inputs: Inputs } | { readonly unreadable: Unreadable }> {
  if (given.startsWith('@') || given === '-') {
    const file = await readJson(given.replace(/^@/, ''), 'the input')
    if ('unreadable' in file) return file
    if (isObject(file.value)) return { inputs: file.value as Inputs }
    return { unreadable: { message: `${file.name} is not a JSON object`, hint } }
  }
  const detected = detectJson(given)
  if (detected.isParsed && isObject(detected.value)) return { inputs: detected.value as Inputs }
  const [, name, value = ''] = /^([^=\s{]+)=([\s\S]*)$/.exec(given) ?? []
  if (name !== undefined) return { inputs: { [name]: detectJson(value).value as Json } }
  return { unreadable: { message: `--input ${given.slice(0, 60)} cannot be read`, hint } }
}

const hint = `Write --input name=value, --input '{"name": "value"}' or --input "@file.json"`

function isTemplateFile(file: string): boolean {
  return /\.xml$/i.test(file)
}

interface TemplateFlags extends ConfigFlags {
  readonly file: string
  readonly use: readonly string[]
  readonly preset?: readonly string[]
  /** Every `--input`. */
  readonly given?: readonly string[]
  /** `capabilities`: for commands that continue a run and need only what it calls. */
  readonly wanted: 'run' | 'capabilities'
}

const options = { checkCondition: conditionIssues }

/** Reads an XML template and compiles it with the given inputs; returns all issues if it is invalid. */
async function readTemplateFile(flags: TemplateFlags): Promise<Work | { readonly unreadable: Unreadable }> {
  const { file, given = [], wanted } = flags
  const read = await readBytes(file, xmlLimits.bytes)
  if ('unreadable' in read) return read
  const parsed = 'tooLarge' in read ? tooLarge(file, read.tooLarge) : parseTemplate(read.bytes, file)
  if (!parsed.ok) return { unreadable: cannotUse(file, parsed.issues) }
  const settings = await readSettings(flags)
  if ('unreadable' in settings) return settings
  const { aros, use, serve } = settings.config
  const used = await useModules([...use, ...flags.use], [...serve.presets, ...(flags.preset ?? [])])
  if ('unreadable' in used) return used
  const capabilities = [...without(defined(parsed.file), used.capabilities), ...used.capabilities]
  const work = {
    capabilities,
    facets: used.facets,
    stages: used.stages,
    ...getMcpServers(settings.config),
    ...settingsOfWork(aros),
  }
  if (wanted === 'capabilities') return work
  const inputs = await readInputs(given)
  if ('unreadable' in inputs) return inputs
  const result = compileTemplate(parsed.file, inputs.inputs, { aros })
  if (!result.ok) return { unreadable: cannotUse(file, result.issues) }
  const envelope = parseEnvelope(result.compiled.envelope, options)
  const draft = parseDraft(result.compiled.draft, options)
  if (envelope.ok && draft.ok) return { ...work, envelope: envelope.value, draft: draft.value }
  // The compiled template is not a valid envelope or draft with these inputs: too deep or too long, for example.
  const issues = [...(envelope.ok ? [] : envelope.issues), ...(draft.ok ? [] : draft.issues)]
  return {
    unreadable: {
      message: `${file} cannot be run with these inputs`,
      issues: issues.map(({ at, message, hint }) => ({
        location: 'pointer' in at ? at.pointer : '',
        message,
        ...(hint !== undefined && { hint }),
      })),
    },
  }
}

function tooLarge(file: string, bytes: number): ParsedTemplate {
  const refused = xmlTooLarge(file, bytes)
  if (refused.ok) throw new Error('A file that is too large is refused')
  return refused
}

function defined(file: TemplateFile): readonly DefinedCapability[] {
  return templateCapabilities(file).map(({ capability, run }) =>
    defineCapability({ ...capability, ...(run && { run }) }),
  )
}

/** Drops the template's placeholder for a model if a module defines a capability of the same name. */
function without(
  own: readonly DefinedCapability[],
  used: readonly DefinedCapability[],
): readonly DefinedCapability[] {
  const taken = new Set(used.map(({ capability }) => capability.capabilityId))
  return own.filter(({ capability }) => !taken.has(capability.capabilityId))
}
