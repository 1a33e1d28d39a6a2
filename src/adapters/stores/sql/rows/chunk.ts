/** Splits long lists into chunks: databases limit the number of bound values per statement. */

/** Keys in one statement. */
const mostKeys = 1_000

export function toChunks<T>(items: Iterable<T>): T[][] {
  const all = [...items]
  const found: T[][] = []
  for (let from = 0; from < all.length; from += mostKeys) found.push(all.slice(from, from + mostKeys))
  return found
}
