/** Damage inside strings: unescaped quotes and newlines, escapes that are not JSON, strings in several parts. */
import type { Random } from '../random.ts'
import { isFreeText, replaceAt, type Site } from '../shape.ts'
import { joinTokens, nextSolid, retext, type Token } from '../tokens.ts'
import type { Damage, Sample } from '../types.ts'
import { edited, findIndexes, isText, listSites, pickOrNot, pickSome } from './outcome.ts'

type Write = (value: string, token: Token, random: Parameters<Damage['apply']>[0]) => string

/** Writes one to three strings of the document differently. */
function strings(
  name: string,
  options: {
    fits: (value: string, token: Token, tokens: readonly Token[], index: number) => boolean
    write: Write
    most?: number
    alone?: true
    only?: (site: Site) => boolean
  },
): Damage {
  return {
    name,
    family: 'string',
    slot: 'quotes',
    ...(options.alone ? { alone: options.alone } : {}),
    apply(random, sample: Sample) {
      const { tokens } = sample
      if (tokens === undefined || isText(sample)) return undefined
      const allowed =
        options.only &&
        new Set(
          listSites(sample)
            .filter(options.only)
            .map((site) => site.at),
        )
      const chosen = pickSome(
        random,
        findIndexes(
          tokens,
          (token, index) =>
            token.kind === 'string' &&
            (allowed === undefined || allowed.has(token.at)) &&
            options.fits(String(token.value), token, tokens, index),
        ),
        options.most ?? 3,
      )
      if (chosen.length === 0) return undefined
      return edited(
        sample,
        chosen.reduce<readonly Token[]>((now, index) => {
          const token = tokens[index]!
          return retext(now, index, options.write(String(token.value), token, random))
        }, tokens),
      )
    },
  }
}

const raw = (text: string): string => text.replaceAll('\\"', '"')

/** Returns whether the string is the value of a member, so that a careful reader can search for the next key. */
const isMember = (tokens: readonly Token[], index: number): boolean =>
  tokens[nextSolid(tokens, index, -1)]?.kind === 'colon'

export const STRINGS: readonly Damage[] = [
  strings('quotes-unescaped', {
    fits: (value) => /[\p{L}\p{N} ]"[\p{L}\p{N} ]/u.test(value) && !/"\s*[,:}\]]|\\|^"|"$|\{"/.test(value),
    write: (_, token) => raw(token.text),
    most: 1,
    alone: true,
  }),
  strings('quotes-unescaped-comma', {
    // A pair of quotes, the second followed by a comma or a colon and then by words that are not a key.
    fits: (value, _token, tokens, index) =>
      isMember(tokens, index) &&
      /"[,:]? \p{L}/u.test(value) &&
      /"[,:]/.test(value) &&
      !/"\s*[}\]]|\\|^"|"$|\{"|"\s*[,:]\s*"|"\s*:\s*[\d[{]/.test(value),
    write: (_, token) => raw(token.text),
    most: 1,
    alone: true,
    only: isFreeText,
  }),
  strings('newlines-raw', {
    fits: (value) => /[\n\t]/.test(value),
    write: (_, token) =>
      token.text.replace(/\\(\\|n|t)/g, (all, c) => (c === 'n' ? '\n' : c === 't' ? '\t' : all)),
  }),
  strings('escape-apostrophe', {
    fits: (value) => value.includes("'"),
    write: (_, token) => token.text.replaceAll("'", "\\'"),
  }),
  strings('escape-unknown', {
    // Only backslashes before letters that start no JSON escape: there the backslash was meant.
    fits: (value) => /\\/.test(value) && !/\\(["\\/bfnrtu]|$)/.test(value),
    write: (_, token) => token.text.replaceAll('\\\\', '\\'),
    only: isFreeText,
  }),
  strings('escape-slash', {
    fits: (value) => value.includes('/'),
    write: (_, token) => token.text.replaceAll('/', '\\/'),
  }),
  strings('escape-unicode', {
    fits: (value) => /[^\x20-\x7e]/.test(value),
    write: (_, token) =>
      token.text.replace(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
  }),
  strings('concatenated', {
    fits: (value) => value.length > 6 && !/[\\"\n\t]/.test(value) && [...value].length === value.length,
    write: (value, _token, random) => {
      const cut = random.int(2, value.length - 2)
      const plus = random.pick([' + ', '+', ' +\n    '])
      return `${JSON.stringify(value.slice(0, cut))}${plus}${JSON.stringify(value.slice(cut))}`
    },
    most: 1,
    only: isFreeText,
  }),
]

/** A number or an object where a string is expected. */
export const UNQUOTED_TEXT: readonly Damage[] = [
  {
    name: 'number-for-string',
    family: 'string',
    slot: 'value',
    apply(random, sample) {
      const index = freeString(random, sample, (value) => /^[1-9]\d{0,9}$/.test(value))
      if (index === undefined || sample.tokens === undefined) return undefined
      return edited(sample, retext(sample.tokens, index, String(sample.tokens[index]?.value)))
    },
  },
  {
    name: 'object-for-string',
    family: 'string',
    slot: 'value',
    alone: true,
    apply(random, sample) {
      const { tokens } = sample
      const index = freeString(random, sample, () => true)
      if (index === undefined || tokens === undefined) return undefined
      const source = random.pick([
        '{"mode": "fast", "level": 3}',
        '[1, 2, 3]',
        '{"steps": ["a", "b"], "done": true}',
      ])
      const changed = retext(tokens, index, source)
      return {
        text: joinTokens(changed),
        tokens: changed,
        expected: replaceAt(sample.value, tokens[index]!.at, source),
      }
    },
  },
]

function freeString(random: Random, sample: Sample, likes: (value: string) => boolean): number | undefined {
  if (sample.tokens === undefined || isText(sample)) return undefined
  const free = new Set(
    listSites(sample)
      .filter((site) => isFreeText(site) && site.declared && !site.contested)
      .map((site) => site.at),
  )
  const fits = (token: Token): boolean =>
    token.kind === 'string' && free.has(token.at) && likes(String(token.value))
  return pickOrNot(random, findIndexes(sample.tokens, fits))
}
