/** Damage by additions between the tokens: comments and ellipses. */
import type { Random } from '../random.ts'
import { nextSolid, type Token } from '../tokens.ts'
import type { Damage } from '../types.ts'
import { edited, findIndexes, isText, pickSome } from './outcome.ts'

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
