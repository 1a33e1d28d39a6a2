/** Damage against the schema: types, enums, keys and shapes that are almost right. */
import { isObject, type Json } from '../../../base/json.ts'
import { child } from '../../../base/pointer.ts'
import type { Random } from '../random.ts'
import { expectsType, replaceAt, type Site } from '../shape.ts'
import { findTokenRange, retext, type Token } from '../tokens.ts'
import type { Damage, Sample } from '../types.ts'
import { edited, findIndexes, isText, listSites, pickOrNot, rewritten } from './outcome.ts'

type Edit = (random: Random, sample: Sample, tokens: readonly Token[]) => readonly Token[] | undefined

function schemaKind(name: string, edit: Edit): Damage {
  return {
    name,
    family: 'schema',
    slot: 'value',
    apply(random, sample) {
      if (sample.tokens === undefined || isText(sample)) return undefined
      const tokens = edit(random, sample, sample.tokens)
      return tokens === undefined ? undefined : edited(sample, tokens)
    },
  }
}

/** Writes one scalar differently, if the site and the value allow it. */
function respell(
  name: string,
  fits: (site: Site) => boolean,
  spell: (site: Site, random: Random) => string | undefined,
): Damage {
  return schemaKind(name, (random, sample, tokens) => {
    const options = listSites(sample)
      .filter(fits)
      .flatMap((site) => {
        const text = spell(site, random)
        const index = tokens.findIndex(
          (token) =>
            token.at === site.at && !token.touched && ['string', 'number', 'literal'].includes(token.kind),
        )
        return text === undefined || index < 0 || text === tokens[index]?.text ? [] : [{ index, text }]
      })
    const chosen = pickOrNot(random, options)
    return chosen && retext(tokens, chosen.index, chosen.text)
  })
}

/** Normalizes a word: ignores case, spaces, punctuation and accents. */
const loose = (word: string): string =>
  word
    .normalize('NFD')
    .replace(/[^\p{L}\p{N}]/gu, '')
    .toLowerCase()

const isEnum = (site: Site): boolean => Array.isArray(site.schema['enum']) && typeof site.value === 'string'

/** Returns the spelling as JSON if it matches exactly this enum value and is not one itself. */
function variant(site: Site, text: string): string | undefined {
  const members = (site.schema['enum'] as readonly unknown[]).map(String)
  const near = members.filter((member) => loose(member) === loose(text))
  return near.length === 1 && near[0] === site.value && !members.includes(text)
    ? JSON.stringify(text)
    : undefined
}

const words = (key: string): string[] =>
  key
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .split(/[_\s-]+/)
    .map((part) => part.toLowerCase())

const capital = (part: string): string => part.charAt(0).toUpperCase() + part.slice(1)

function rekey(name: string, spell: (parts: string[], key: string) => string): Damage {
  return schemaKind(name, (_random, sample, tokens) => {
    const declared = new Set(
      listSites(sample)
        .filter((site) => site.declared && !site.contested)
        .map((site) => site.at),
    )
    const keys = findIndexes(tokens, (token) => token.kind === 'key' && declared.has(token.at))
    const changed = keys.filter(
      (index) =>
        spell(words(String(tokens[index]?.value)), String(tokens[index]?.value)) !== tokens[index]?.value,
    )
    if (changed.length === 0) return undefined
    return changed.reduce<readonly Token[]>((now, index) => {
      const key = String(tokens[index]?.value)
      return retext(now, index, JSON.stringify(spell(words(key), key)))
    }, tokens)
  })
}

/** Returns the tokens of one value with other tokens before and after. */
function enclose(
  tokens: readonly Token[],
  at: string,
  [before, after]: readonly [string, string],
): Token[] | undefined {
  const range = findTokenRange(tokens, at)
  if (range === undefined || tokens.slice(...range).some((token) => token.touched)) return undefined
  const [start, end] = range
  return [
    ...tokens.slice(0, start),
    { kind: 'open', text: before, at, touched: true },
    ...tokens.slice(start, end),
    { kind: 'close', text: after, at, touched: true },
    ...tokens.slice(end),
  ]
}

const EXTRA: readonly (readonly [string, Json])[] = [
  ['_comment', 'added by the model'],
  ['confidence_note', 'high'],
  ['extra_metadata', { model: 'x', tokens: [1, 2] }],
  ['reasoning_trace', null],
]

export const SCHEMA_KINDS: readonly Damage[] = [
  respell(
    'boolean-quoted',
    (site) => expectsType(site, 'boolean') && typeof site.value === 'boolean',
    (site, r) => {
      const text = String(site.value)
      return JSON.stringify(r.pick([text, capital(text), text.toUpperCase()]))
    },
  ),
  respell('enum-case', isEnum, (site, r) => {
    const text = String(site.value)
    return variant(site, r.pick([text.toUpperCase(), capital(text), text.toLowerCase()]))
  }),
  respell('enum-spacing', isEnum, (site, r) =>
    variant(site, String(site.value).replace(/[ _-]/g, r.pick(['_', '-', ' ', '']))),
  ),
  respell('enum-accents', isEnum, (site) =>
    variant(site, String(site.value).normalize('NFD').replace(/\p{M}/gu, '')),
  ),
  respell('enum-punctuation', isEnum, (site, r) =>
    variant(site, r.pick([`${String(site.value)}.`, ` ${String(site.value)} `, `*${String(site.value)}*`])),
  ),
  respell(
    'null-quoted',
    (site) =>
      site.value === null && !site.types.has('string') && !site.types.has('array') && site.types.has('null'),
    () => '"null"',
  ),
  rekey('keys-snake', (parts) => parts.join('_')),
  rekey('keys-camel', (parts) => parts.map((part, i) => (i === 0 ? part : capital(part))).join('')),
  rekey('keys-kebab', (parts) => parts.join('-')),
  rekey('keys-title', (parts) => parts.map(capital).join(' ')),
  rekey('keys-upper', (_parts, key) => key.toUpperCase()),
  rekey('keys-padded', (_parts, key) => ` ${key} `),
  schemaKind('list-unwrapped', (random, sample, tokens) => {
    const site = pickOrNot(
      random,
      listSites(sample).filter((one) => {
        if (
          !expectsType(one, 'array') ||
          !Array.isArray(one.value) ||
          one.value.length !== 1 ||
          one.at === ''
        )
          return false
        const [item] = one.value as readonly Json[]
        return (
          isObject(item) ||
          typeof item === 'number' ||
          (typeof item === 'string' && /^[\p{L}\p{N} @.]+$/u.test(item))
        )
      }),
    )
    const range = site && findTokenRange(tokens, site.at)
    const inner = site && findTokenRange(tokens, child(site.at, 0))
    if (!range || !inner || tokens.slice(...range).some((token) => token.touched)) return undefined
    return [...tokens.slice(0, range[0]), ...tokens.slice(...inner), ...tokens.slice(range[1])]
  }),
  schemaKind('scalar-wrapped', (random, sample, tokens) => {
    const site = pickOrNot(
      random,
      listSites(sample).filter(
        (one) =>
          one.declared &&
          !one.contested &&
          !one.types.has('array') &&
          (!one.types.has('string') || Array.isArray(one.schema['enum'])) &&
          one.value !== null &&
          !('format' in one.schema),
      ),
    )
    return site && enclose(tokens, site.at, ['[', ']'])
  }),
  schemaKind('extra-key', (random, sample) => {
    const closed = listSites(sample).filter(
      (site) => isObject(site.value) && site.schema['additionalProperties'] === false && !site.contested,
    )
    const site = pickOrNot(random, closed)
    if (site === undefined || sample.tokens?.some((token) => token.touched)) return undefined
    const entries = Object.entries(site.value as Record<string, Json>)
    entries.splice(random.int(0, entries.length), 0, [...random.pick(EXTRA)])
    return rewritten(sample, replaceAt(sample.value, site.at, Object.fromEntries(entries)))
  }),
  schemaKind('duplicate-key', (random, sample, tokens) => {
    const scalars = listSites(sample).filter(
      (site) => site.declared && ['string', 'number', 'boolean'].includes(typeof site.value),
    )
    const site = pickOrNot(random, scalars)
    const index = tokens.findIndex((token) => token.kind === 'key' && token.at === site?.at && !token.touched)
    const key = tokens[index]
    if (key === undefined || site === undefined) return undefined
    const other =
      typeof site.value === 'string'
        ? '"earlier draft"'
        : typeof site.value === 'number'
          ? '0'
          : String(!site.value)
    return [
      ...tokens.slice(0, index),
      { kind: 'space', text: `${key.text}: ${other}, `, at: key.at, touched: true },
      ...tokens.slice(index),
    ]
  }),
]
