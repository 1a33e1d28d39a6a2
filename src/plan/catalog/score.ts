/** Scores how well a capability suits a request: five parts between 0 and 1, weighted by one table, with a cut-off. */

import { isObject } from '../../base/json.ts'
import type { Capability } from '../../domain/capability.ts'
import type { Envelope } from '../../domain/envelope.ts'
import type { PlannerPolicy } from '../../domain/policy.ts'

/** The weight and the meaning of each part; the weights add up to 1. */
export const scoreTable = {
  facets: { weight: 0.35, sentence: 'share of what it supplies that the request has a use for' },
  channel: { weight: 0.15, sentence: 'its formats have the words of the wanted channel or format' },
  language: { weight: 0.25, sentence: 'it speaks the wanted language; one that does not has half the score' },
  cost: { weight: 0.1, sentence: 'its tier and its estimated tokens' },
  preference: { weight: 0.15, sentence: 'the caller prefers it (1), avoids it (0), or says nothing (0.5)' },
} as const

type ScorePart = keyof typeof scoreTable

/** Capabilities that score less are not planned, unless the caller requires or prefers them. */
export const defaultCutoff = 0.35

/** Relative expense of the tiers; an unknown tier counts as standard. */
export const tierTable: Readonly<Record<string, number>> = {
  free: 0,
  low: 0.25,
  economy: 0.25,
  standard: 0.5,
  high: 0.75,
  premium: 1,
}

/** Token estimate from which on the token part of the expense is at its maximum. */
const manyTokens = 20_000

interface ScoreRequest {
  readonly hints: Hints
  /** Properties that the request can use. */
  readonly useful: ReadonlySet<string>
  /** Properties that the capability supplies. */
  readonly supplies: readonly string[]
  readonly selection?: PlannerPolicy['selection']
}

export interface CapabilityScore {
  readonly total: number
  readonly parts: Readonly<Record<ScorePart, number>>
}

export function scoreCapability(capability: Capability, request: ScoreRequest): CapabilityScore {
  const parts = {
    facets: share(request.supplies, (name) => request.useful.has(name)),
    channel: scoreChannel(capability, request.hints),
    language: languagePart(capability, request.hints),
    cost: 1 - rateExpense(capability),
    preference: scorePreference(capability.capabilityId, request.selection),
  }
  const sum = (Object.keys(scoreTable) as ScorePart[]).reduce(
    (total, part) => total + scoreTable[part].weight * parts[part],
    0,
  )
  return { total: parts.language === 0 ? sum / 2 : sum, parts }
}

/** Expense between 0 (free) and 1. */
export function rateExpense({ cost }: Capability): number {
  const tier = tierTable[cost?.tier ?? 'standard'] ?? 0.5
  const tokens = Math.min((cost?.estimatedTokens ?? 0) / manyTokens, 1)
  return (tier + tokens) / 2
}

function share<T>(all: readonly T[], isGood: (each: T) => boolean): number {
  return all.length === 0 ? 0 : all.filter(isGood).length / all.length
}

/** Scores the best matching format; 0.5 for a capability that names none. */
function scoreChannel({ inputTraits }: Capability, { words }: Hints): number {
  const formats = inputTraits?.formats ?? []
  if (formats.length === 0 || words.size === 0) return 0.5
  return Math.max(...wordsIn(formats).map((format) => share(format, (word) => words.has(word))))
}

const formatWords = new WeakMap<readonly string[], readonly (readonly string[])[]>()

function wordsIn(formats: readonly string[]): readonly (readonly string[])[] {
  let words = formatWords.get(formats)
  if (words === undefined) {
    words = formats.map(splitWords)
    formatWords.set(formats, words)
  }
  return words
}

function languagePart({ inputTraits }: Capability, { languages }: Hints): number {
  const spoken = (inputTraits?.languages ?? []).map(getLanguage)
  if (spoken.length === 0 || languages.size === 0) return 1
  return share([...languages], (language) => spoken.includes(language) || spoken.includes('*'))
}

function scorePreference(capabilityId: string, selection: PlannerPolicy['selection']): number {
  const { require = [], prefer = [], avoid = [] } = selection ?? {}
  if (require.includes(capabilityId) || prefer.includes(capabilityId)) return 1
  return avoid.includes(capabilityId) ? 0 : 0.5
}

// Extracts channel, format and language from an envelope: the hints used to rank capabilities.

interface Hints {
  /** Words of the requested channel and format; those of the objective if neither is given. */
  readonly words: ReadonlySet<string>
  /** Language codes of two or three letters, without the region. */
  readonly languages: ReadonlySet<string>
}

const formatKeys = ['channel', 'channels', 'format', 'formats', 'platform', 'platforms', 'contentType']
const languageKeys = ['language', 'languages', 'lang', 'locale', 'locales']

export function readHints(envelope: Envelope): Hints {
  const sources = [
    envelope.inputs,
    envelope.policies.planner.directives,
    envelope.outputContract.hints,
    envelope.metadata,
  ]
  const said = (keys: readonly string[]) => {
    const found: string[] = []
    for (const source of sources) {
      if (!isObject(source)) continue
      for (const key of keys) if (Object.hasOwn(source, key)) found.push(...texts(source[key]))
    }
    return found
  }
  const formats = said(formatKeys).flatMap(splitWords)
  return {
    words: new Set(formats.length > 0 ? formats : splitWords(envelope.objective)),
    languages: new Set(said(languageKeys).map(getLanguage)),
  }
}

/** Splits text into lower-case words; `linkedIn_post` and "LinkedIn post" give the same words. */
export function splitWords(text: string): string[] {
  const brand = text.slice(0, longest).replaceAll(/linked[\s_-]?in/gi, 'linkedin')
  return brand
    .replaceAll(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '')
}

/** Returns the language of a tag without its region: `en-US` gives `en`. */
function getLanguage(tag: string): string {
  return tag.toLowerCase().split(/[-_]/, 1)[0] ?? ''
}

const longest = 10_000

function texts(value: unknown): string[] {
  return (Array.isArray(value) ? value : [value]).filter((each) => typeof each === 'string')
}
