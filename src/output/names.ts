/** Matching keys and listed values that are spelled a little differently, only when exactly one can be meant. */

/** Letters and digits only, lower case, without accents: what is left when spelling habits are taken away. */
export function normalForm(text: string): string {
  if (text.length > 200) return text
  return text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '')
}

export type Match<T> =
  | { readonly kind: 'one'; readonly value: T }
  | { readonly kind: 'many'; readonly values: readonly T[] }
  | undefined

/** The one candidate that `text` can mean. */
export function matchOne<T>(
  text: string,
  candidates: readonly T[],
  spelling: (candidate: T) => string,
): Match<T> {
  const wanted = normalForm(text)
  if (wanted === '') return undefined
  const found = candidates.filter((candidate) => normalForm(spelling(candidate)) === wanted)
  if (found.length === 0) return undefined
  return found.length === 1 ? { kind: 'one', value: found[0] as T } : { kind: 'many', values: found }
}
