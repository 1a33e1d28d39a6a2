/** Damage to punctuation: commas, colons and closing brackets that are extra, missing or of the wrong kind. */
import { nextSolid, retext, type Token } from '../tokens.ts'
import type { Damage } from '../types.ts'
import { edited, findIndexes, isText, pickOrNot, pickSome } from './outcome.ts'

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
