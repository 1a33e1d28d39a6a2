/** An XML template as the file of a command: compiled with the inputs given, or what is wrong with it. */
import { type DefinedCapability, defineCapability } from '../app.ts'
import { parseDraft } from '../domain/parse-draft.ts'
import { parseEnvelope } from '../domain/parse-envelope.ts'
import { conditionIssues } from '../engine/conditions.ts'
import {
  compileTemplate,
  type ParsedTemplate,
  parseTemplate,
  type TemplateFile,
  templateCapabilities,
  xmlLimits,
  xmlTooLarge,
} from '../pipeline/index.ts'
import { type ConfigFlags, readSettings, settingsOfWork } from './config-option.ts'
import { readBytes } from './read-bytes.ts'
import type { Unreadable } from './read-input.ts'
import { cannotUse } from './source-issues.ts'
import { readInputs } from './template-inputs.ts'
import { useModules } from './use-modules.ts'
import type { Work } from './work.ts'

export function isTemplateFile(file: string): boolean {
  return /\.xml$/i.test(file)
}

export interface TemplateFlags extends ConfigFlags {
  readonly file: string
  readonly use: readonly string[]
  readonly preset?: readonly string[]
  /** Every `--input`. */
  readonly given?: readonly string[]
  /** For commands that go on with a run, only what it calls. */
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
  // What the inputs make of the template is no envelope or draft: too deep or too long, for example.
  const issues = [...(envelope.ok ? [] : envelope.issues), ...(draft.ok ? [] : draft.issues)]
  return {
    unreadable: {
      message: `${file} cannot be run with these inputs`,
      issues: issues.map(({ at, message, hint }) => ({
        place: 'pointer' in at ? at.pointer : '',
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

/** What stands for a model in a template gives way to a program of the same name. */
function without(
  own: readonly DefinedCapability[],
  used: readonly DefinedCapability[],
): readonly DefinedCapability[] {
  const taken = new Set(used.map(({ capability }) => capability.capabilityId))
  return own.filter(({ capability }) => !taken.has(capability.capabilityId))
}
