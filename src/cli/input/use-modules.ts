/** `--use FILE` and `--preset NAME`: loads capabilities and facets from ES modules and from the presets of the package. */
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { DefinedCapability } from '../../app.ts'
import { closest } from '../../base/closest.ts'
import { isObject } from '../../base/json.ts'
import { parseFacet } from '../../domain/capability/parse-facet.ts'
import type { Facet } from '../../domain/facet.ts'
import type { CustomStage } from '../../output/index.ts'
import type { Unreadable } from '../read-input.ts'

export interface Used {
  readonly capabilities: DefinedCapability[]
  readonly facets: Facet[]
  /** Custom parse stages: objects with `name` and `run`. */
  readonly stages: CustomStage[]
}

/** Presets of the package, loaded on demand. */
const presets: Readonly<
  Record<string, () => Promise<{ readonly [K in 'capabilities' | 'facets']: Readonly<Used[K]> }>>
> = {
  memory: async () => {
    const { memoryTools } = await import('../../domain/memory/memory-tools.ts')
    return { capabilities: memoryTools.map((capability) => ({ capability })), facets: [] }
  },
  marketing: async () => (await import('../../presets/marketing/index.ts')).marketing,
}

/** Loads the presets, then imports the modules in order; stops at the first that cannot be used. */
export async function useModules(
  files: readonly string[],
  presetNames: readonly string[] = [],
): Promise<Used | { readonly unreadable: Unreadable }> {
  const used: Used = { capabilities: [], facets: [], stages: [] }
  for (const name of new Set(presetNames)) {
    const preset = await presets[name]?.()
    if (preset === undefined) return { unreadable: unknownPreset(name) }
    used.capabilities.push(...preset.capabilities)
    used.facets.push(...preset.facets)
  }
  for (const file of files) {
    let exports: object
    try {
      exports = await import(pathToFileURL(resolve(file)).href)
    } catch (error) {
      return { unreadable: cannotImport(file, error) }
    }
    const unreadable = takeExports(file, exports, used)
    if (unreadable) return { unreadable }
  }
  return used
}

function takeExports(file: string, exports: object, used: Used): Unreadable | undefined {
  const entries = Object.entries(exports).flatMap(([name, value]): [string, unknown][] =>
    Array.isArray(value) ? value.map((item, index) => [`${name}[${index}]`, item]) : [[name, value]],
  )
  if (entries.length === 0)
    return { message: `${file} exports nothing`, hint: 'Export what defineCapability returns' }
  for (const [name, value] of entries) {
    const why = take(value, used)
    if (why) return { message: `${file}: the export "${name}" ${why.message}`, hint: why.hint }
  }
  return undefined
}

/** Detects exports by shape (duck typing), because the module may import another copy of the package. */
function take(value: unknown, used: Used): { message: string; hint: string } | undefined {
  if (isDefined(value)) {
    used.capabilities.push(value)
    return undefined
  }
  if (isStage(value)) {
    used.stages.push(value)
    return undefined
  }
  if (isObject(value) && 'capabilityId' in value)
    return { message: 'is data about a capability', hint: 'Wrap it: defineCapability({ … })' }
  if (!isObject(value) || !('schema' in value))
    return {
      message: 'is neither a capability nor a facet nor a stage',
      hint: 'Export what defineCapability returns, facets, or stages ({ name, run }); keep helpers unexported',
    }
  const facet = parseFacet(value)
  if (facet.ok) {
    used.facets.push(facet.value)
    return undefined
  }
  const [issue] = facet.issues
  const at = issue && 'pointer' in issue.at ? issue.at.pointer : ''
  return {
    message: `is no facet: ${at} ${issue?.message ?? ''}`,
    hint: issue?.hint ?? 'A facet has name, schema and metadata.direction',
  }
}

function isStage(value: unknown): value is CustomStage {
  return isObject(value) && typeof value['name'] === 'string' && typeof value['run'] === 'function'
}

function isDefined(value: unknown): value is DefinedCapability {
  return isObject(value) && isObject(value['capability']) && 'capabilityId' in value['capability']
}

function unknownPreset(name: string): Unreadable {
  const meant = closest(name, Object.keys(presets))
  return {
    message: `preset "${name}" not found`,
    hint: meant === undefined ? `Presets: ${Object.keys(presets).join(', ')}` : `Did you mean ${meant}?`,
  }
}

function cannotImport(file: string, error: unknown): Unreadable {
  const { code, url } = error as { code?: string; url?: string }
  if (code === 'ERR_MODULE_NOT_FOUND' && url === pathToFileURL(resolve(file)).href)
    return { message: `Cannot import ${file}: no such file`, hint: 'Pass the path of an ES module' }
  const message = error instanceof Error ? error.message : String(error)
  return {
    message: `Cannot import ${file}: ${message}`,
    hint: 'Pass an ES module (.mjs, or .js with "type": "module")',
  }
}
