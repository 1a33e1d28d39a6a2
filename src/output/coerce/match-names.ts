/** Fuzzy matching of keys and listed values: matches only if exactly one candidate has the same normal form. */

import { memoize } from '../../base/memoize.ts'
import { hasFastPaths } from '../fast-paths.ts'

/** Normal form: letters and digits only, lower case, without accents. */
export function normalForm(text: string): string {
  if (text.length > 200 || (hasFastPaths && isNormal(text))) return text
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

/** The names by normal form. An object may have thousands of keys to look up, and a list a million objects of one shape. */
const indexNames = memoize((names: readonly unknown[]) => {
  const byForm = new Map<string, string[]>()
  for (const name of names) {
    if (typeof name !== 'string') continue
    const form = normalForm(name)
    const same = byForm.get(form)
    if (same === undefined) byForm.set(form, [name])
    else same.push(name)
  }
  return byForm
})

/** The names with the normal form of `text` that `isMeant` admits; one that differs only in case comes before others. */
export function matchNames(
  text: string,
  names: readonly unknown[],
  isMeant: (name: string) => boolean = () => true,
): readonly string[] {
  const wanted = normalForm(text)
  const found = (wanted === '' ? undefined : indexNames(names).get(wanted)?.filter(isMeant)) ?? []
  const same = found.filter((name) => name.toLowerCase() === text.toLowerCase())
  return same.length === 1 ? same : found
}
