/** Loads a YAML pipeline with its imports, and compiles it with the effective settings and the input. */
import type { DefinedCapability } from '../../app.ts'
import type { Json } from '../../base/json.ts'
import { parseDraft } from '../../domain/draft/parse-draft.ts'
import { parseEnvelope } from '../../domain/envelope/parse-envelope.ts'
import { conditionIssues } from '../../engine/decide/checks/conditions.ts'
import { capabilitiesOf, compilePipeline, loadPipeline } from '../../pipeline/index.ts'
import { printNote } from '../print.ts'
import { readInput, type Unreadable } from '../read-input.ts'
import { type ConfigFlags, readSettings, settingsOfWork } from './config-option.ts'
import type { Work } from './read-run-file.ts'
import { cannotUse, described } from './source-issues.ts'
import { type Used, useModules } from './use-modules.ts'

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

export async function readPipelineFile(
  flags: PipelineFlags,
): Promise<Work | { readonly unreadable: Unreadable }> {
  const loaded = await loadPipeline(flags.file)
  if (!loaded.ok) return { unreadable: cannotUse(flags.file, loaded.issues) }
  const settings = await readSettings(flags)
  if ('unreadable' in settings) return settings
  const { use, serve } = settings.config
  const used = await useModules([...use, ...flags.use], [...serve.presets, ...(flags.preset ?? [])])
  if ('unreadable' in used) return used
  const brought: readonly DefinedCapability[] = capabilitiesOf(loaded.pipeline)
  const work = {
    capabilities: [...brought, ...used.capabilities],
    facets: used.facets,
    stages: used.stages,
    ...settingsOfWork(settings.config.aros),
  }
  if (flags.wanted === 'capabilities') return work
  const given = await readGiven(flags.input)
  if ('unreadable' in given) return given
  const compiled = compilePipeline(loaded.pipeline, {
    input: given.input,
    aros: settings.config.aros,
    capabilities: capabilitiesIn(used),
    stages: used.stages.map(({ name }) => name),
  })
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
