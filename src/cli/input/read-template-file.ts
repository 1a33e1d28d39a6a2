/** Reads an XML template and compiles it with the given inputs; returns all issues if it is invalid. */
import { type DefinedCapability, defineCapability } from '../../app.ts'
import { isObject, type Json, setOwn } from '../../base/json.ts'
import { parseDraft } from '../../domain/draft/parse-draft.ts'
import { parseEnvelope } from '../../domain/envelope/parse-envelope.ts'
import { conditionIssues } from '../../engine/decide/checks/conditions.ts'
import { detectJson } from '../../output/index.ts'
import {
  compileTemplate,
  type ParsedTemplate,
  parseTemplate,
  type TemplateFile,
  templateCapabilities,
  xmlLimits,
  xmlTooLarge,
} from '../../pipeline/index.ts'
import type { Unreadable } from '../read-input.ts'
import { type ConfigFlags, readSettings, settingsOfWork } from './config-option.ts'
import { readBytes } from './read-bytes.ts'
import { readJson } from './read-json.ts'
import type { Work } from './read-run-file.ts'
import { cannotUse } from './source-issues.ts'
import { useModules } from './use-modules.ts'

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

const hint = `Write --input name=value, --input '{"name": "value"}' or --input @file.json`

export function isTemplateFile(file: string): boolean {
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

export async function readTemplateFile(
  flags: TemplateFlags,
): Promise<Work | { readonly unreadable: Unreadable }> {
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
  const work = { capabilities, facets: used.facets, stages: used.stages, ...settingsOfWork(aros) }
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
