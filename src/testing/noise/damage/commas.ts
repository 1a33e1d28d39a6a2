/** Damage to commas and colons: extra, missing, or replaced by another character. */
import { nextSolid, retext, type Token } from '../tokens.ts'
import type { Damage } from '../types.ts'
import { edited, findIndexes, isText, pickSome } from './outcome.ts'

type Edit = (tokens: readonly Token[], index: number) => Token[]

/** Changes one to three matching tokens, the last first so that positions stay valid. */
function some(name: string, fits: (tokens: readonly Token[], index: number) => boolean, edit: Edit): Damage {
  return {
    name,
    family: 'comma',
    slot: 'structure',
    apply(random, sample) {
      const { tokens } = sample
      if (tokens === undefined || isText(sample)) return undefined
      const chosen = pickSome(
        random,
        findIndexes(tokens, (_, index) => fits(tokens, index)),
      )
      if (chosen.length === 0) return undefined
      return edited(
        sample,
        chosen.reduceRight<readonly Token[]>((now, index) => edit(now, index), tokens),
      )
    },
  }
}

const is = (kind: Token['kind']) => (tokens: readonly Token[], index: number) => tokens[index]?.kind === kind

const insert = (tokens: readonly Token[], index: number, text: string): Token[] => {
  const at = tokens[index]?.at ?? ''
  return [...tokens.slice(0, index), { kind: 'comma', text, at, touched: true }, ...tokens.slice(index)]
}

/** Returns whether the token closes a container that is not empty. */
const closesFull = (tokens: readonly Token[], index: number): boolean =>
  tokens[index]?.kind === 'close' && tokens[nextSolid(tokens, index, -1)]?.kind !== 'open'

/** Returns whether the token is a comma between tokens that are still separate without it. */
const separates = (tokens: readonly Token[], index: number): boolean => {
  if (tokens[index]?.kind !== 'comma') return false
  const before = tokens[index - 1]
  const after = tokens[nextSolid(tokens, index)]
  if (before === undefined || after === undefined || before.touched || after.touched) return false
  // Adjacent strings of a list could also be one string with quotes inside.
  if (before.kind === 'string' && after.kind === 'string') return false
  return true
}

export const COMMAS: readonly Damage[] = [
  some('comma-trailing', closesFull, (tokens, index) => {
    const before = nextSolid(tokens, index, -1)
    return insert(tokens, before + 1, ',')
  }),
  some('comma-doubled', is('comma'), (tokens, index) => retext(tokens, index, ',,')),
  some(
    'comma-leading',
    (tokens, index) => tokens[index]?.kind === 'open' && tokens[nextSolid(tokens, index)]?.kind !== 'close',
    (tokens, index) => insert(tokens, index + 1, ','),
  ),
  some('comma-missing', separates, (tokens, index) =>
    retext(tokens, index, tokens[index + 1]?.kind === 'space' ? '' : ' '),
  ),
  some(
    'comma-missing-line',
    (tokens, index) => is('comma')(tokens, index) && tokens[index + 1]?.text.includes('\n') === true,
    (tokens, index) => retext(tokens, index, ''),
  ),
  some(
    'colon-missing',
    (tokens, index) =>
      is('colon')(tokens, index) && !tokens[index - 1]?.touched && !tokens[nextSolid(tokens, index)]?.touched,
    (tokens, index) => retext(tokens, index, ' '),
  ),
  some('colon-arrow', is('colon'), (tokens, index) => retext(tokens, index, ' =>')),
  {
    name: 'full-width-punctuation',
    family: 'comma',
    slot: 'structure',
    apply(_random, { tokens, ...sample }) {
      if (tokens === undefined || tokens.length < 4) return undefined
      const wide: Record<string, string> = {
        '{': '｛',
        '}': '｝',
        '[': '［',
        ']': '］',
        ':': '：',
        ',': '，',
      }
      const structure = tokens.map((token) =>
        ['open', 'close', 'comma', 'colon'].includes(token.kind)
          ? { ...token, text: wide[token.text] ?? token.text, touched: true as const }
          : token,
      )
      return edited(sample, structure)
    },
  },
]
