/**
 * Finds listed values in a text as whole words, without regard to case. An index of the values by their first token makes
 * one pass over the text enough, however many values there are.
 */
import { normalForm } from '../coerce/match-names.ts'

interface FoundWord {
  readonly start: number
  readonly length: number
}

/** The values that begin with one token: by folded text, how often each is listed, and which lengths they have. */
interface SameStart {
  readonly counts: Map<string, number>
  readonly lengths: Set<number>
}

const TOKEN = /[\p{L}\p{N}_]+|[^\p{L}\p{N}_]/gu
const STARTS_WITH_WORD = /^[\p{L}\p{N}_]/u

/**
 * The first place of every listed value in the text, in the order of the text. A value that is listed twice, or in two
 * spellings that differ only in case, is found twice.
 */
export function* findListedWords(text: string, values: readonly unknown[]): Generator<FoundWord> {
  const index = indexOf(values)
  const folded = foldCase(text)
  const seen = new Set<string>()
  let isAfterWord = false
  for (const { 0: token, index: start } of text.matchAll(TOKEN)) {
    const same = isAfterWord ? undefined : index.get(folded.slice(start, start + token.length))
    isAfterWord = STARTS_WITH_WORD.test(token)
    if (same === undefined) continue
    for (const length of same.lengths) {
      const end = start + length
      const word = folded.slice(start, end)
      const count = seen.has(word) ? undefined : same.counts.get(word)
      if (count === undefined || STARTS_WITH_WORD.test(text.slice(end, end + 2))) continue
      seen.add(word)
      for (let i = 0; i < count; i++) yield { start, length }
    }
  }
}

const indexes = new WeakMap<readonly unknown[], ReadonlyMap<string, SameStart>>()

/** The values by their first token. Cached: a schema reads many texts. */
function indexOf(values: readonly unknown[]): ReadonlyMap<string, SameStart> {
  const known = indexes.get(values)
  if (known !== undefined) return known
  const index = new Map<string, SameStart>()
  for (const value of values) {
    if (typeof value !== 'string' || normalForm(value) === '') continue
    const folded = foldCase(value)
    const first = folded.slice(0, value.match(TOKEN)?.[0].length)
    const same = index.get(first) ?? { counts: new Map(), lengths: new Set() }
    same.counts.set(folded, (same.counts.get(folded) ?? 0) + 1)
    same.lengths.add(folded.length)
    index.set(first, same)
  }
  indexes.set(values, index)
  return index
}

/** Folds case as the flags `iu` of a pattern do; every character keeps its length, so that positions stay valid. */
function foldCase(text: string): string {
  if (!/[^\0-\x7f]/.test(text)) return text.toLowerCase()
  return text.replace(/\P{ASCII}|[A-Z]/gu, (character) => {
    // The dotless i is a letter of its own, though its capital is that of i.
    if (character === 'ı') return character
    const upper = character.toUpperCase()
    const lower = (upper.length === character.length ? upper : character).toLowerCase()
    return lower.length === character.length ? lower : character
  })
}
