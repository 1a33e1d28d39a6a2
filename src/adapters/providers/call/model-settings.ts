/** Settings of a model call in the terms of the AI SDK and of each provider; what a provider cannot do is a warning. */
import type { LanguageModelV3CallOptions, SharedV3Warning } from '@ai-sdk/provider'
import { isObject, type Json } from '../../../base/json.ts'
import type { ModelRequest, ModelWarning } from '../../../domain/ports/provider.ts'
import type { ReasoningEffort } from '../../../domain/settings/model-settings.ts'

type Options = { readonly [name: string]: Json }
type ProviderOptions = { readonly [provider: string]: Options }

/** What reasoning effort means to a provider: options of its package, and what of it cannot be done. */
export type ToEffort = (
  effort: ReasoningEffort,
  model: string,
) => { readonly options?: Options; readonly note?: string }

interface SettingsContext {
  /** Under which name the package of the provider reads its options. */
  readonly optionsName: string
  readonly toEffort: ToEffort
  /** Options of the provider itself; those of the caller replace them. */
  readonly extras: ProviderOptions | undefined
}

interface SdkSettings {
  readonly options: Pick<
    LanguageModelV3CallOptions,
    'temperature' | 'topP' | 'seed' | 'stopSequences' | 'maxOutputTokens' | 'providerOptions'
  >
  readonly warnings: readonly ModelWarning[]
}

export function toSdkSettings(
  { settings = {}, maxOutputTokens, model }: Pick<ModelRequest, 'settings' | 'maxOutputTokens' | 'model'>,
  { optionsName, toEffort, extras }: SettingsContext,
): SdkSettings {
  const { temperature, topP, seed, stop, reasoningEffort, providerOptions } = settings
  const effort = reasoningEffort === undefined ? {} : toEffort(reasoningEffort, model)
  const warnings = effort.note === undefined ? [] : [{ setting: 'reasoningEffort', message: effort.note }]
  const merged = mergeOptions(extras, effort.options && { [optionsName]: effort.options }, providerOptions)
  const fitted = fitThinking(merged, maxOutputTokens)
  return {
    options: {
      ...(temperature !== undefined && { temperature }),
      ...(topP !== undefined && { topP }),
      ...(seed !== undefined && { seed }),
      ...(stop && { stopSequences: [...stop] }),
      ...(fitted.maxOutputTokens !== undefined && { maxOutputTokens: fitted.maxOutputTokens }),
      ...(fitted.options && {
        // Parsed as JSON objects; the package's type needs the cast.
        providerOptions: fitted.options as NonNullable<LanguageModelV3CallOptions['providerOptions']>,
      }),
    },
    warnings: [...warnings, ...fitted.warnings],
  }
}

function mergeOptions(...given: readonly (ProviderOptions | undefined)[]): ProviderOptions | undefined {
  const names = new Set(given.flatMap((options) => Object.keys(options ?? {})))
  if (names.size === 0) return undefined
  return Object.fromEntries(
    [...names].map((name) => [name, Object.assign({}, ...given.map((options) => options?.[name]))]),
  )
}

/** The least tokens that Anthropic thinks with, and the least that stay for the answer. */
const [leastThinking, leastAnswer] = [1_024, 256]

/**
 * Anthropic's package adds the tokens for thinking to the limit of the answer. Here the limit is what was reserved: both
 * share it, and if it is too small for both there is no thinking.
 */
function fitThinking(
  options: ProviderOptions | undefined,
  most: number | undefined,
): {
  readonly options: ProviderOptions | undefined
  readonly maxOutputTokens?: number | undefined
  readonly warnings: readonly ModelWarning[]
} {
  const thinking = options?.['anthropic']?.['thinking']
  const wanted = isObject(thinking) ? thinking['budgetTokens'] : undefined
  if (!options || most === undefined || typeof wanted !== 'number')
    return { options, maxOutputTokens: most, warnings: [] }
  const budgetTokens = Math.min(wanted, most - leastAnswer)
  if (budgetTokens < leastThinking) {
    const { thinking: _, ...rest } = options['anthropic'] ?? {}
    const message = `maxOutputTokens (${most}) is too small to think: at least ${leastThinking + leastAnswer} are needed`
    return {
      options: { ...options, anthropic: rest },
      maxOutputTokens: most,
      warnings: [{ setting: 'reasoningEffort', message }],
    }
  }
  return {
    options: {
      ...options,
      anthropic: { ...options['anthropic'], thinking: { ...(thinking as Options), budgetTokens } },
    },
    maxOutputTokens: most - budgetTokens,
    warnings: [],
  }
}

const noEffort = (model: string) => ({ note: `"${model}" has no setting for reasoning effort` })

/** Models of OpenAI that do not reason. */
const isPlainOpenAi = /^(ft:)?(gpt-3|gpt-4|chatgpt)/

export const openaiEffort: ToEffort = (effort, model) =>
  isPlainOpenAi.test(model) ? noEffort(model) : { options: { reasoningEffort: effort } }

/** Tokens to think with, for models that take a number. */
const thinkingTokens = { none: 0, minimal: 1_024, low: 2_048, medium: 8_192, high: 24_576 } as const

export const anthropicEffort: ToEffort = (effort, model) => {
  if (/claude-(instant|2|3-(haiku|sonnet|opus|5))/.test(model)) return noEffort(model)
  if (effort === 'none') return { options: { thinking: { type: 'disabled' } } }
  // Later models decide themselves how much to think, within an effort.
  if (/claude-(3-7|(opus|sonnet|haiku)-4(-[015])?(-2|$|@))/.test(model))
    return { options: { thinking: { type: 'enabled', budgetTokens: thinkingTokens[effort] } } }
  return {
    options: { thinking: { type: 'adaptive' }, effort: effort === 'minimal' ? 'low' : effort },
    ...(effort === 'minimal' && { note: '"minimal" is sent as "low", the least effort' }),
  }
}

export const googleEffort: ToEffort = (effort, model) => {
  if (/^(gemini-(1|2\.0)|gemma|learnlm)/.test(model)) return noEffort(model)
  if (!/^gemini-2\.5/.test(model)) {
    const thinkingLevel = effort === 'none' ? 'minimal' : effort
    return {
      options: { thinkingConfig: { thinkingLevel } },
      ...(effort === 'none' && { note: '"none" is sent as "minimal", the least level' }),
    }
  }
  // The larger model cannot do without.
  const isPro = /^gemini-2\.5-pro/.test(model)
  const thinkingBudget = isPro ? Math.max(thinkingTokens[effort], 128) : thinkingTokens[effort]
  return {
    options: { thinkingConfig: { thinkingBudget } },
    ...(isPro && effort === 'none' && { note: '"none" is sent as the least budget, 128 tokens' }),
  }
}

/** Servers with OpenAI's chat format take the word, or ignore it. */
export const compatibleEffort: ToEffort = (effort) => ({ options: { reasoningEffort: effort } })

export const unknownEffort: ToEffort = () => ({
  note: 'the effort of this provider has no common name; set it in `providerOptions`',
})

/** Names of settings in the package, where ours is another. */
const settingNames: Readonly<Record<string, string>> = { stopSequences: 'stop' }

/** Warnings of a package in the words of the port. */
export function toWarnings(warnings: readonly SharedV3Warning[]): ModelWarning[] {
  return warnings.map((warning) => {
    if (warning.type === 'other') return { setting: 'request', message: warning.message }
    const { feature, details } = warning
    return {
      setting: settingNames[feature] ?? feature,
      message: details ?? `The provider does not support ${feature}`,
    }
  })
}
