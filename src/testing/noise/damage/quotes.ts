/** Damage to quotes as delimiters: single, curly, back-tick, doubled, tripled, missing at the end of a line. */
import { isFreeText } from '../shape.ts'
import { retext, type Token } from '../tokens.ts'
import type { Damage, Sample } from '../types.ts'
import { edited, findIndexes, isText, listSites, pickOrNot, pickSome } from './outcome.ts'

const isQuoted = (token: Token): boolean => token.kind === 'string' || token.kind === 'key'

function quotes(
  name: string,
  apply: (
    sample: Sample & { tokens: readonly Token[] },
    random: Parameters<Damage['apply']>[0],
  ) => readonly Token[] | undefined,
  alone?: true,
): Damage {
  return {
    name,
    family: 'quote',
    slot: 'quotes',
    ...(alone ? { alone } : {}),
    apply(random, sample) {
      if (sample.tokens === undefined || isText(sample)) return undefined
      const tokens = apply({ ...sample, tokens: sample.tokens }, random)
      return tokens === undefined ? undefined : edited(sample, tokens)
    },
  }
}

/** Rewrites every quoted token; `undefined` if one of them cannot be rewritten. */
function requote(
  tokens: readonly Token[],
  again: (value: string, token: Token) => string | undefined,
): Token[] | undefined {
  const out: Token[] = []
  for (const token of tokens) {
    if (!isQuoted(token) || token.touched) out.push(token)
    else {
      const text = again(String(token.value), token)
      if (text === undefined) return undefined
      out.push({ ...token, text, touched: true })
    }
  }
  return out.some(isQuoted) ? out : undefined
}

const body = (value: string): string => JSON.stringify(value).slice(1, -1)

/** Quotes a string as Python prints it: single quotes, unless they need escapes and double quotes do not. */
export function pythonString(value: string): string {
  if (value.includes("'") && !value.includes('"')) return JSON.stringify(value)
  return `'${body(value).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`
}

export const QUOTES: readonly Damage[] = [
  quotes('quotes-single', ({ tokens }) => requote(tokens, pythonString)),
  quotes('quotes-single-keys', ({ tokens }) =>
    requote(tokens, (value, token) => (token.kind === 'key' ? pythonString(value) : token.text)),
  ),
  quotes('quotes-curly', ({ tokens }) =>
    requote(tokens, (value) => (/[“”„‟]/.test(value) ? undefined : `“${body(value)}”`)),
  ),
  quotes('quotes-low', ({ tokens }) =>
    requote(tokens, (value) => (/[“”„‟«»]/.test(value) ? undefined : `„${body(value)}“`)),
  ),
  quotes('quotes-full-width', ({ tokens }) =>
    requote(tokens, (value) => (/[＂“”]/.test(value) ? undefined : `＂${body(value)}＂`)),
  ),
  quotes('quotes-back-tick', ({ tokens }, random) => {
    const fitting = findIndexes(
      tokens,
      (token) => token.kind === 'string' && !/[`\\]|\$\{/.test(String(token.value)) && token.value !== '',
    )
    if (fitting.length === 0) return undefined
    return pickSome(random, fitting).reduce<readonly Token[]>(
      (now, index) => retext(now, index, `\`${String(tokens[index]?.value)}\``),
      tokens,
    )
  }),
  quotes('quotes-triple', (sample, random) => {
    const { tokens } = sample
    const free = new Set(
      listSites(sample)
        .filter(isFreeText)
        .map((site) => site.at),
    )
    const fitting = findIndexes(
      tokens,
      (token) =>
        token.kind === 'string' &&
        free.has(token.at) &&
        /\S/.test(String(token.value)) &&
        !/"""|"$|^"|\\|^\s|\s$/.test(String(token.value)),
    )
    const index = pickOrNot(random, fitting)
    return index === undefined ? undefined : retext(tokens, index, `"""${String(tokens[index]?.value)}"""`)
  }),
  quotes(
    'quotes-doubled',
    ({ tokens }) =>
      requote(tokens, (value) => (value === '' || /["\\\n\t]/.test(value) ? undefined : `""${value}""`)),
    true,
  ),
  quotes(
    'quote-missing-line-end',
    (sample, random) => {
      const { tokens } = sample
      const index = pickOrNot(
        random,
        findIndexes(tokens, (token, i) => {
          const next = tokens[i + 1]
          const line = next?.kind === 'comma' ? tokens[i + 2] : next
          return (
            token.kind === 'string' &&
            tokens[i - 1]?.kind === 'space' &&
            tokens[i - 2]?.kind === 'colon' &&
            line?.kind === 'space' &&
            line.text.includes('\n') &&
            /^[\p{L}\p{N} -]+$/u.test(String(token.value)) &&
            String(token.value).trim() === token.value
          )
        }),
      )
      return index === undefined ? undefined : retext(tokens, index, tokens[index]!.text.slice(0, -1))
    },
    true,
  ),
  quotes(
    'quote-missing-start',
    (sample, random) => {
      const { tokens } = sample
      const free = new Set(
        listSites(sample)
          .filter(isFreeText)
          .map((site) => site.at),
      )
      const index = pickOrNot(
        random,
        findIndexes(
          tokens,
          (token, i) =>
            token.kind === 'string' &&
            free.has(token.at) &&
            ['colon', 'space'].includes(tokens[i - 1]?.kind ?? '') &&
            /^[\p{L} ]+$/u.test(String(token.value)),
        ),
      )
      return index === undefined ? undefined : retext(tokens, index, tokens[index]!.text.slice(1))
    },
    true,
  ),
]
