/** Fuzzy matching of keys and listed values: matches only if exactly one candidate has the same normal form. */

/** Normal form: letters and digits only, lower case, without accents. */
export function normalForm(text: string): string {
  if (text.length > 200 || isNormal(text)) return text
  return text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '')
}

/** Whether the text is already in normal form (lower-case ASCII letters and digits), as most keys are. */
function isNormal(text: string): boolean {
  return /^[a-z\d]*$/.test(text)
}

type Match<T> =
  | { readonly kind: 'one'; readonly value: T }
  | { readonly kind: 'many'; readonly values: readonly T[] }
  | undefined

/** Index of candidates by normal form: an object may have thousands of keys to look up. */
export class Spellings<T> {
  readonly #byForm = new Map<string, T[]>()

  constructor(candidates: readonly T[], spelling: (candidate: T) => string) {
    for (const candidate of candidates) {
      const form = normalForm(spelling(candidate))
      const same = this.#byForm.get(form)
      if (same === undefined) this.#byForm.set(form, [candidate])
      else same.push(candidate)
    }
  }

  /** The only candidate that matches `text` and that `isMeant` admits. */
  match(text: string, isMeant?: (candidate: T) => boolean): Match<T> {
    const wanted = normalForm(text)
    const same = wanted === '' ? undefined : this.#byForm.get(wanted)
    const found = isMeant === undefined ? same : same?.filter(isMeant)
    if (found === undefined || found.length === 0) return undefined
    return found.length === 1 ? { kind: 'one', value: found[0] as T } : { kind: 'many', values: found }
  }
}

/** The only candidate that matches `text`. */
export function matchOne<T>(
  text: string,
  candidates: readonly T[],
  spelling: (candidate: T) => string,
): Match<T> {
  return new Spellings(candidates, spelling).match(text)
}
