/** Damage by encoding: JSON inside JSON strings, at the root or in a field. */
import { isObject } from '../../../base/json.ts'
import { expectsType } from '../shape.ts'
import { findTokenRange, joinTokens, type Token } from '../tokens.ts'
import type { Damage, Sample } from '../types.ts'
import { edited, embedded, isDocument, isStrict, isText, listSites, pickOrNot } from './outcome.ts'

function whole(name: string, encode: (sample: Sample) => string | undefined): Damage {
  return {
    name,
    family: 'encoding',
    slot: 'embed',
    apply(_random, sample) {
      if (isText(sample) || sample.open) return undefined
      const text = encode(sample)
      return text === undefined ? undefined : embedded(sample, text)
    },
  }
}

/** Writes one list or object of the document as a JSON string. */
function field(
  name: string,
  wanted: 'array' | 'object',
  encode: (text: string, sample: Sample) => string | undefined,
): Damage {
  return {
    name,
    family: 'encoding',
    slot: 'value',
    apply(random, sample) {
      const { tokens } = sample
      if (tokens === undefined) return undefined
      const sites = listSites(sample).filter(
        (site) =>
          site.at !== '' &&
          expectsType(site, wanted) &&
          (Array.isArray(site.value) ? site.value.length > 0 : isObject(site.value)),
      )
      const site = pickOrNot(random, sites)
      const range = site && findTokenRange(tokens, site.at)
      if (!site || !range || tokens.slice(...range).some((token) => token.touched)) return undefined
      const text = encode(joinTokens(tokens.slice(...range)), { ...sample, value: site.value })
      if (text === undefined) return undefined
      const token: Token = { kind: 'string', text, at: site.at, touched: true }
      return edited(sample, [...tokens.slice(0, range[0]), token, ...tokens.slice(range[1])])
    },
  }
}

export const ENCODINGS: readonly Damage[] = [
  whole('encoded-twice', (s) => JSON.stringify(s.text)),
  whole('encoded-thrice', (s) => JSON.stringify(JSON.stringify(s.text))),
  whole('encoded-fenced', (s) => `\`\`\`json\n${JSON.stringify(s.text)}\n\`\`\``),
  whole('escaped-quotes', (s) =>
    isDocument(s) && isStrict(s.text) && !/\\/.test(s.text) ? s.text.replaceAll('"', '\\"') : undefined,
  ),
  whole('escaped-body', (s) =>
    isDocument(s) && isStrict(s.text) ? JSON.stringify(s.text).slice(1, -1) : undefined,
  ),
  field('field-encoded-object', 'object', (text) => JSON.stringify(text)),
  field('field-encoded-list', 'array', (text) => JSON.stringify(text)),
  field('field-python-list', 'array', (_text, site) => {
    const items = site.value
    if (
      !Array.isArray(items) ||
      !items.every((item) => typeof item === 'string' && /^[\p{L} ]+$/u.test(item))
    )
      return undefined
    return JSON.stringify(`[${items.map((item) => `'${item}'`).join(', ')}]`)
  }),
]
