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

/** Candidates by their normal form: an object may have thousands of keys to look up. */
export class Spellings<T> {
  readonly size: number
  readonly #byForm = new Map<string, T[]>()

  constructor(candidates: readonly T[], spelling: (candidate: T) => string) {
    this.size = candidates.length
    for (const candidate of candidates) {
      const form = normalForm(spelling(candidate))
      const same = this.#byForm.get(form)
      if (same === undefined) this.#byForm.set(form, [candidate])
      else same.push(candidate)
    }
  }

  /** The one candidate that `text` can mean. */
  match(text: string): Match<T> {
    const wanted = normalForm(text)
    const found = wanted === '' ? undefined : this.#byForm.get(wanted)
    if (found === undefined) return undefined
    return found.length === 1 ? { kind: 'one', value: found[0] as T } : { kind: 'many', values: found }
  }
}

/** The one candidate that `text` can mean. */
export function matchOne<T>(
  text: string,
  candidates: readonly T[],
  spelling: (candidate: T) => string,
): Match<T> {
  return new Spellings(candidates, spelling).match(text)
}
