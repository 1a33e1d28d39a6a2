/** Damage by additions between the tokens: comments, ellipses, and invisible characters (byte order marks, NUL, Unicode spaces). */
import type { Random } from '../random.ts'
import { nextSolid, retext, type Token } from '../tokens.ts'
import type { Damage, Sample } from '../types.ts'
import { edited, embedded, findIndexes, isText, pickSome } from './outcome.ts'

const REMARKS = [
  'taken from the text',
  "don't change this",
  'was "old", now new',
  'see {above} and [1]',
  'TODO: check, maybe',
  '単位は円',
]

function insertAfter(tokens: readonly Token[], index: number, text: string): Token[] {
  const at = tokens[index]?.at ?? ''
  return [
    ...tokens.slice(0, index + 1),
    { kind: 'space', text, at, touched: true },
    ...tokens.slice(index + 1),
  ]
}

function additions(
  name: string,
  fits: (tokens: readonly Token[], index: number) => boolean,
  text: (random: Random) => string,
): Damage {
  return {
    name,
    family: 'comment',
    slot: 'structure',
    apply(random, sample) {
      const { tokens } = sample
      if (tokens === undefined || isText(sample) || tokens.length < 4) return undefined
      const chosen = pickSome(
        random,
        findIndexes(tokens, (_, index) => fits(tokens, index)),
      )
      if (chosen.length === 0) return undefined
      return edited(
        sample,
        chosen.reduceRight<readonly Token[]>((now, index) => insertAfter(now, index, text(random)), tokens),
      )
    },
  }
}

/** Returns whether the token ends its line. */
const endsLine = (tokens: readonly Token[], index: number): boolean =>
  ['comma', 'open'].includes(tokens[index]?.kind ?? '') && tokens[index + 1]?.text.startsWith('\n') === true

const between = (tokens: readonly Token[], index: number): boolean =>
  ['comma', 'open'].includes(tokens[index]?.kind ?? '') && !tokens[index + 1]?.touched

/** Returns whether the token ends the last item of a list. */
const endsList = (tokens: readonly Token[], index: number): boolean => {
  const next = tokens[nextSolid(tokens, index)]
  return (
    tokens[index]?.kind !== 'space' &&
    tokens[index]?.kind !== 'open' &&
    next?.kind === 'close' &&
    next.text === ']'
  )
}

const endsObject = (tokens: readonly Token[], index: number): boolean => {
  const next = tokens[nextSolid(tokens, index)]
  return (
    tokens[index]?.kind !== 'space' &&
    tokens[index]?.kind !== 'open' &&
    next?.kind === 'close' &&
    next.text === '}'
  )
}

export const COMMENTS: readonly Damage[] = [
  additions('comment-line', endsLine, (r) => ` // ${r.pick(REMARKS)}`),
  additions('comment-hash', endsLine, (r) => ` # ${r.pick(REMARKS)}`),
  additions('comment-block', between, (r) => ` /* ${r.pick(REMARKS)} */ `),
  additions('ellipsis-list', endsList, (r) => r.pick([', ...', ',...'])),
  additions('ellipsis-object', endsObject, () => ', ...'),
]

function invisible(name: string, apply: Damage['apply']): Damage {
  return {
    name,
    family: 'character',
    slot: 'character',
    apply: (random, sample) => (isText(sample) ? undefined : apply(random, sample)),
  }
}

/** Inserts characters betweenTokens the tokens of a document, never inside them. */
function betweenTokens(name: string, characters: readonly string[]): Damage {
  return invisible(name, (random, sample: Sample) => {
    const { tokens } = sample
    if (tokens === undefined || tokens.length < 4) return undefined
    const joints = findIndexes(tokens, (token) => ['comma', 'colon', 'open'].includes(token.kind))
    const chosen = pickSome(random, joints, 5)
    if (chosen.length === 0) return undefined
    return edited(
      sample,
      chosen.reduce<readonly Token[]>(
        (now, i) => retext(now, i, `${tokens[i]!.text}${random.pick(characters)}`),
        tokens,
      ),
    )
  })
}

export const CHARACTERS: readonly Damage[] = [
  invisible('bom', (_, sample) => embedded(sample, `\uFEFF${sample.text}`)),
  invisible('carriage-returns', (_, sample) => {
    const { tokens } = sample
    if (tokens === undefined || !sample.text.includes('\n') || tokens.some((token) => token.touched))
      return undefined
    return edited(
      sample,
      tokens.map((token) => ({ ...token, text: token.text.replaceAll('\n', '\r\n') })),
    )
  }),
  betweenTokens('nul', ['\u0000']),
  betweenTokens('zero-width', ['\u200B', '\u200C', '\u2060', '\uFEFF']),
  betweenTokens('odd-spaces', ['\u00A0', '\u3000', '\u2003', '\u202F', '\u2028']),
  invisible('blank-edges', (_, sample) =>
    embedded(sample, `\n\n \u00A0${sample.text}${sample.open ? '' : ' \u200B\n\n'}`),
  ),
]
