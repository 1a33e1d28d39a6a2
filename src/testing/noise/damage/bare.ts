/** Damage by missing quotes: bare keys, bare values, Python and JavaScript notations. */
import { isFreeText } from '../shape.ts'
import { nextSolid, retext, type Token } from '../tokens.ts'
import type { Damage } from '../types.ts'
import { edited, findIndexes, isText, listSites, pickOrNot, pickSome } from './outcome.ts'
import { pythonString } from './quotes.ts'

const LITERAL = /^(true|false|null|none|nan|infinity|undefined|yes|no|on|off)$/i

/** Words that every reader takes for text. */
const isBareable = (value: string): boolean =>
  /^\p{L}[\p{L}\p{N} ]*[\p{L}\p{N}]$/u.test(value) && !LITERAL.test(value)

const CONSTANTS: Record<string, string> = { true: 'True', false: 'False', null: 'None' }

function syntax(
  name: string,
  family: 'bare' | 'literal',
  edit: (...given: [...Parameters<Damage['apply']>, readonly Token[]]) => readonly Token[] | undefined,
  alone?: true,
): Damage {
  return {
    name,
    family,
    slot: 'quotes',
    ...(alone ? { alone } : {}),
    apply(random, sample) {
      if (sample.tokens === undefined || isText(sample)) return undefined
      const tokens = edit(random, sample, sample.tokens)
      return tokens === undefined ? undefined : edited(sample, tokens)
    },
  }
}

const isConstant = (token: Token): boolean => token.kind === 'literal' && !token.touched

export const BARE: readonly Damage[] = [
  syntax('keys-bare', 'bare', (_random, _sample, tokens) => {
    const keys = findIndexes(
      tokens,
      (token) => token.kind === 'key' && /^[A-Za-z_]\w*$/.test(String(token.value)),
    )
    if (keys.length === 0) return undefined
    return keys.reduce<readonly Token[]>(
      (now, index) => retext(now, index, String(tokens[index]?.value)),
      tokens,
    )
  }),
  syntax('values-bare', 'bare', (random, _sample, tokens) => {
    const fitting = findIndexes(tokens, (token) => token.kind === 'string' && isBareable(String(token.value)))
    const chosen = pickSome(random, fitting)
    if (chosen.length === 0) return undefined
    return chosen.reduce<readonly Token[]>(
      (now, index) => retext(now, index, String(tokens[index]?.value)),
      tokens,
    )
  }),
  syntax(
    'value-bare-commas',
    'bare',
    (random, sample, tokens) => {
      const free = new Set(
        listSites(sample)
          .filter(isFreeText)
          .map((site) => site.at),
      )
      const fitting = findIndexes(tokens, (token, index) => {
        const next = tokens[index + 1]
        const follower = next?.kind === 'comma' ? tokens[nextSolid(tokens, index + 1)] : next
        return (
          token.kind === 'string' &&
          free.has(token.at) &&
          tokens[nextSolid(tokens, index, -1)]?.kind === 'colon' &&
          (follower?.kind === 'key' || next?.kind === 'close') &&
          /^\p{L}[\p{L} ]*(, [\p{L} ]*\p{L})+[.!?]?$/u.test(String(token.value))
        )
      })
      const index = pickOrNot(random, fitting)
      return index === undefined ? undefined : retext(tokens, index, String(tokens[index]?.value))
    },
    true,
  ),
  syntax(
    'url-bare',
    'bare',
    (random, sample, tokens) => {
      const free = new Set(
        listSites(sample)
          .filter(isFreeText)
          .map((site) => site.at),
      )
      const index = pickOrNot(
        random,
        findIndexes(
          tokens,
          (token) =>
            token.kind === 'string' &&
            free.has(token.at) &&
            /^https?:\/\/[\w./-]+$/.test(String(token.value)),
        ),
      )
      return index === undefined ? undefined : retext(tokens, index, String(tokens[index]?.value))
    },
    true,
  ),
  syntax('date-bare', 'bare', (random, _sample, tokens) => {
    const index = pickOrNot(
      random,
      findIndexes(tokens, (token) => /^"\d{4}-\d\d-\d\d(T[\d:]+Z)?"$/.test(token.text)),
    )
    return index === undefined ? undefined : retext(tokens, index, String(tokens[index]?.value))
  }),
  syntax('python', 'literal', (_random, _sample, tokens) => {
    if (!tokens.some(isConstant)) return undefined
    return tokens.map((token) => {
      if (token.touched) return token
      if (token.kind === 'literal')
        return { ...token, text: CONSTANTS[token.text] ?? token.text, touched: true as const }
      if (token.kind === 'key' || token.kind === 'string')
        return { ...token, text: pythonString(String(token.value)), touched: true as const }
      return token
    })
  }),
  syntax('python-constants', 'literal', (_random, _sample, tokens) => {
    if (!tokens.some(isConstant)) return undefined
    return tokens.map((token) =>
      isConstant(token)
        ? { ...token, text: CONSTANTS[token.text] ?? token.text, touched: true as const }
        : token,
    )
  }),
  syntax('constants-upper', 'literal', (_random, _sample, tokens) => {
    if (!tokens.some(isConstant)) return undefined
    return tokens.map((token) =>
      isConstant(token) ? { ...token, text: token.text.toUpperCase(), touched: true as const } : token,
    )
  }),
  syntax('python-tuple', 'literal', (random, _sample, tokens) => {
    const open = pickOrNot(
      random,
      findIndexes(
        tokens,
        (token, index) =>
          token.text === '[' &&
          tokens.filter((t) => t.kind === 'comma' && t.at === token.at).length > 0 &&
          !tokens[index + 1]?.touched,
      ),
    )
    const at = open === undefined ? undefined : tokens[open]?.at
    const close = tokens.findIndex((token) => token.kind === 'close' && token.at === at)
    return open === undefined || close < 0 ? undefined : retext(retext(tokens, open, '('), close, ')')
  }),
  syntax(
    'python-set',
    'literal',
    (random, _sample, tokens) => {
      const open = pickOrNot(
        random,
        findIndexes(tokens, (token, index) => {
          if (token.text !== '[' || tokens[nextSolid(tokens, index)]?.kind !== 'string') return false
          const items = tokens.filter((t) => t.kind === 'string' && t.at.startsWith(`${token.at}/`))
          return items.length > 1 && new Set(items.map((t) => t.value)).size === items.length
        }),
      )
      const at = open === undefined ? undefined : tokens[open]?.at
      const close = tokens.findIndex((token) => token.kind === 'close' && token.at === at)
      return open === undefined || close < 0 ? undefined : retext(retext(tokens, open, '{'), close, '}')
    },
    true,
  ),
  syntax('null-as-undefined', 'literal', (random, _sample, tokens) => {
    const nulls = findIndexes(tokens, (token) => token.text === 'null')
    const index = pickOrNot(random, nulls)
    return index === undefined
      ? undefined
      : retext(tokens, index, random.pick(['undefined', 'NaN', 'Infinity']))
  }),
]
