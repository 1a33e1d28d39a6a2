/**
 * Settings of model calls (`modelSettings`): on a capability, on an envelope for all of its run, and on a node. Members of a
 * narrower place replace those of a wider one.
 */
import { isObject, type Json } from '../../base/json.ts'
import { child } from '../../base/pointer.ts'
import type { ParseIssue } from '../parse/issue-table.ts'
import { below, checkNoun } from '../parse/parsed.ts'
import { modelSettingsSchema, type reasoningEfforts } from '../schemas/model-settings-schema.ts'

/** How much a model reasons before it answers; each provider gets it in its own terms. */
export type ReasoningEffort = (typeof reasoningEfforts)[number]

export interface ModelSettings {
  /** 0 to 2; higher is more random. */
  readonly temperature?: number
  /** Nucleus sampling, 0 to 1. Set this or `temperature`. */
  readonly topP?: number
  /** Most tokens of one answer. */
  readonly maxOutputTokens?: number
  /** Makes sampling repeatable, where the provider supports it. */
  readonly seed?: number
  /** Texts that end the answer; they are not part of it. */
  readonly stop?: readonly string[]
  readonly reasoningEffort?: ReasoningEffort
  /** Further options by provider, in the names of its AI SDK package: `{ openai: { serviceTier: 'flex' } }`. */
  readonly providerOptions?: { readonly [provider: string]: { readonly [name: string]: Json } }
}

/** Members of requests that limits, prices and the loop depend on: no option may replace them. */
const reserved: ReadonlySet<string> = new Set([
  'model',
  'messages',
  'input',
  'contents',
  'system',
  'tools',
  'stream',
  'n',
  'max_tokens',
  'max_completion_tokens',
  'maxCompletionTokens',
  'max_output_tokens',
  'previousResponseId',
  'conversation',
])

/** What is wrong with settings, located from `at`. */
export function modelSettingsIssues(given: unknown, at = ''): ParseIssue[] {
  if (given === undefined) return []
  const issues = checkNoun(
    modelSettingsSchema,
    given as Json,
    'Put options of one provider into providerOptions.NAME',
  )
  if (issues.length > 0) return issues.map((issue) => below(at, issue))
  return Object.entries((given as ModelSettings).providerOptions ?? {}).flatMap(([provider, options]) =>
    Object.keys(options)
      .filter((name) => reserved.has(name))
      .map((name) => ({
        code: 'settings/reserved' as const,
        at: { pointer: `${at}${child(child('/providerOptions', provider), name)}` },
        message: `the option "${name}" would replace what limits and prices depend on`,
        hint: 'Remove it; use `maxOutputTokens`, the model of the capability, and its tools',
      })),
  )
}

/** Later settings replace earlier ones, member by member; options of a provider name by name. */
export function mergeModelSettings(...blocks: readonly (ModelSettings | undefined)[]): ModelSettings {
  let merged: ModelSettings = {}
  for (const block of blocks) {
    if (!block) continue
    const options = mergeOptions(merged.providerOptions, block.providerOptions)
    merged = { ...merged, ...block, ...(options && { providerOptions: options }) }
  }
  return merged
}

function mergeOptions(
  under: ModelSettings['providerOptions'],
  over: ModelSettings['providerOptions'],
): ModelSettings['providerOptions'] {
  if (!under || !over) return over ?? under
  const names = new Set([...Object.keys(under), ...Object.keys(over)])
  return Object.fromEntries([...names].map((name) => [name, { ...under[name], ...over[name] }]))
}

/** The settings that `data` of a node or `settings` of a capability holds; both were checked when they were parsed. */
export function modelSettingsIn(
  holder: { readonly [key: string]: Json } | undefined,
): ModelSettings | undefined {
  const given = holder?.['modelSettings']
  return isObject(given) ? (given as ModelSettings) : undefined
}

interface SettingsHolders {
  /** Of the capability. */
  readonly own: ModelSettings | undefined
  readonly envelope: { readonly modelSettings?: ModelSettings }
  readonly data?: { readonly [key: string]: Json } | undefined
}

/** The settings of a call: of the capability, under those of the run, under those of the node. Absent if there are none. */
export function modelSettingsFor({ own, envelope, data }: SettingsHolders): ModelSettings | undefined {
  const merged = mergeModelSettings(own, envelope.modelSettings, modelSettingsIn(data))
  return Object.keys(merged).length > 0 ? merged : undefined
}
