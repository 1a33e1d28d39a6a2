/** Damage to closing brackets: missing at the end, missing inside, too many, of the wrong kind. */
import { nextSolid, retext, type Token } from '../tokens.ts'
import type { Damage } from '../types.ts'
import { edited, findIndexes, isText, pickOrNot } from './outcome.ts'

function closer(name: string, apply: Damage['apply'], alone?: true): Damage {
  return {
    name,
    family: 'closer',
    slot: 'structure',
    ...(alone ? { alone } : {}),
    apply: (random, sample) => (isText(sample) ? undefined : apply(random, sample)),
  }
}

/** Returns whether the next token shows that the container has ended. */
function endsPlainly(tokens: readonly Token[], index: number): boolean {
  const token = tokens[index]
  const comma = nextSolid(tokens, index)
  const next = tokens[nextSolid(tokens, comma)]
  if (tokens[comma]?.kind !== 'comma' || next === undefined || next.touched) return false
  // A list of scalars ends where a key begins; an object in a list ends where the next object begins.
  if (token?.text === ']')
    return next.kind === 'key' && tokens[nextSolid(tokens, index, -1)]?.kind !== 'close'
  return next.kind === 'open' && next.text === '{'
}

/** Returns false for a number, because it could have been cut off. */
const endsSafely = (tokens: readonly Token[], end: number): boolean => {
  const last = tokens[nextSolid(tokens, end, -1)]
  return (
    last !== undefined &&
    (last.kind === 'string' ||
      last.kind === 'close' ||
      last.value === null ||
      typeof last.value === 'boolean')
  )
}

export const CLOSERS: readonly Damage[] = [
  closer('closer-missing-end', (random, sample) => {
    const { tokens } = sample
    if (tokens === undefined || sample.open) return undefined
    let end = tokens.length
    let run = 0
    while (['close', 'space'].includes(tokens[end - 1]?.kind ?? '')) {
      end -= 1
      if (tokens[end]?.kind === 'close') run += 1
    }
    if (run === 0 || tokens[end - 1]?.kind === 'open' || !endsSafely(tokens, end) || tokens[end - 1]?.touched)
      return undefined
    const keep = random.int(0, run - 1)
    let cut = end
    for (let kept = 0; kept < keep; cut++) if (tokens[cut]?.kind === 'close') kept += 1
    return edited(sample, tokens.slice(0, cut), true)
  }),
  closer(
    'closer-missing-inside',
    (random, sample) => {
      const { tokens } = sample
      if (tokens === undefined) return undefined
      const index = pickOrNot(
        random,
        findIndexes(tokens, (token, i) => token.kind === 'close' && endsPlainly(tokens, i)),
      )
      return index === undefined ? undefined : edited(sample, retext(tokens, index, ''))
    },
    true,
  ),
  closer('closer-extra-end', (random, sample) => {
    const { tokens } = sample
    const last = tokens?.at(-1)
    if (tokens === undefined || last?.kind !== 'close' || sample.open) return undefined
    const extra = random.pick([
      last.text,
      `${last.text}${last.text}`,
      last.text === '}' ? ']}' : '}]',
      `\n${last.text}`,
    ])
    return edited(sample, retext(tokens, tokens.length - 1, last.text + extra))
  }),
  closer(
    'closer-extra-inside',
    (random, sample) => {
      const { tokens } = sample
      if (tokens === undefined) return undefined
      const index = pickOrNot(
        random,
        findIndexes(tokens, (token, i) => token.text === '}' && endsPlainly(tokens, i)),
      )
      return index === undefined ? undefined : edited(sample, retext(tokens, index, '}}'))
    },
    true,
  ),
  closer(
    'closer-wrong',
    (random, sample) => {
      const { tokens } = sample
      if (tokens === undefined || sample.open) return undefined
      const index = pickOrNot(
        random,
        findIndexes(
          tokens,
          (token, i) =>
            token.kind === 'close' &&
            (i === tokens.length - 1 || (token.text === ']' && endsPlainly(tokens, i))),
        ),
      )
      const token = index === undefined ? undefined : tokens[index]
      if (index === undefined || token === undefined || tokens[nextSolid(tokens, index, -1)]?.kind === 'open')
        return undefined
      return edited(sample, retext(tokens, index, token.text === '}' ? ']' : '}'))
    },
    true,
  ),
]
