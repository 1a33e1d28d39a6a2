/** Extracts channel, format and language from an envelope: the hints used to rank capabilities. */
import { isObject, own } from '../../base/json.ts'
import type { Envelope } from '../../domain/envelope.ts'

export interface Hints {
  /** Words of the requested channel and format; those of the objective if neither is given. */
  readonly words: ReadonlySet<string>
  /** Language codes of two or three letters, without the region. */
  readonly languages: ReadonlySet<string>
}

const formatKeys = ['channel', 'channels', 'format', 'formats', 'platform', 'platforms', 'contentType']
const languageKeys = ['language', 'languages', 'lang', 'locale', 'locales']

export function hintsOf(envelope: Envelope): Hints {
  const sources = [
    envelope.inputs,
    envelope.policies.planner.directives,
    envelope.outputContract.hints,
    envelope.metadata,
  ]
  const said = (keys: readonly string[]) =>
    sources.flatMap((source) => (isObject(source) ? keys.flatMap((key) => texts(own(source, key))) : []))
  const formats = said(formatKeys).flatMap(wordsOf)
  return {
    words: new Set(formats.length > 0 ? formats : wordsOf(envelope.objective)),
    languages: new Set(said(languageKeys).map(languageOf)),
  }
}

/** Splits text into lower-case words; `linkedIn_post` and "LinkedIn post" give the same words. */
export function wordsOf(text: string): string[] {
  const brand = text.slice(0, longest).replaceAll(/linked[\s_-]?in/gi, 'linkedin')
  return brand
    .replaceAll(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '')
}

/** Returns the language of a tag without its region: `en-US` gives `en`. */
export function languageOf(tag: string): string {
  return tag.toLowerCase().split(/[-_]/, 1)[0] ?? ''
}

const longest = 10_000

function texts(value: unknown): string[] {
  return (Array.isArray(value) ? value : [value]).filter((each) => typeof each === 'string')
}
