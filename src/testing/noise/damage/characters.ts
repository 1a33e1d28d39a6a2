/** Damage by invisible characters: byte order marks, NUL, carriage returns, Unicode spaces. */
import { retext, type Token } from '../tokens.ts'
import type { Damage, Sample } from '../types.ts'
import { edited, embedded, findIndexes, isText, pickSome } from './outcome.ts'

function invisible(name: string, apply: Damage['apply']): Damage {
  return {
    name,
    family: 'character',
    slot: 'character',
    apply: (random, sample) => (isText(sample) ? undefined : apply(random, sample)),
  }
}

/** Inserts characters between the tokens of a document, never inside them. */
function between(name: string, characters: readonly string[]): Damage {
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
  between('nul', ['\u0000']),
  between('zero-width', ['\u200B', '\u200C', '\u2060', '\uFEFF']),
  between('odd-spaces', ['\u00A0', '\u3000', '\u2003', '\u202F', '\u2028']),
  invisible('blank-edges', (_, sample) =>
    embedded(sample, `\n\n \u00A0${sample.text}${sample.open ? '' : ' \u200B\n\n'}`),
  ),
]
