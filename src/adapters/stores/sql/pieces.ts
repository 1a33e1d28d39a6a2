/** Lists that may be longer than a statement may be: databases bind some ten thousand values at most. */

/** Keys in one statement. */
const mostKeys = 1_000

export function pieces<T>(items: Iterable<T>): T[][] {
  const all = [...items]
  const found: T[][] = []
  for (let from = 0; from < all.length; from += mostKeys) found.push(all.slice(from, from + mostKeys))
  return found
}
