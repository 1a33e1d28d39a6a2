/** Finds the name that was probably meant, for "did you mean" hints. Never used to guess a value. */

/** Longer names are unlikely to be typos, and the comparison costs the product of the lengths. */
const longestName = 64
const mostCandidates = 1_000

/** Returns the candidate with the smallest edit distance: differs in case and separators only, or by one or two typos. */
export function closest(name: string, candidates: readonly string[]): string | undefined {
  if (name.length > longestName || candidates.length > mostCandidates) return undefined
  const wanted = compared(name)
  let best: string | undefined
  let least = Math.min(2, Math.floor(wanted.length / 3)) + 1
  for (const candidate of candidates) {
    if (candidate.length > longestName) continue
    const distance = slips(wanted, compared(candidate), least)
    if (distance < least) [best, least] = [candidate, distance]
  }
  return best
}

/** Shorter names are prefixes of too many others. */
const shortestBeginning = 6

/**
 * Returns a candidate that is a prefix of the name or has it as a prefix, allowing two typos: `autoAprove` for
 * `autoApproveAbove`.
 */
export function beginning(name: string, candidates: readonly string[]): string | undefined {
  if (name.length > longestName || candidates.length > mostCandidates) return undefined
  const wanted = compared(name)
  return candidates.find((candidate) => {
    const other = compared(candidate)
    const [short, long] = wanted.length < other.length ? [wanted, other] : [other, wanted]
    if (short.length < shortestBeginning || candidate.length > longestName) return false
    return [-1, 0, 1].some((more) => slips(short, long.slice(0, short.length + more), 3) < 3)
  })
}

/** Removes case and separators from a name. */
export function plain(name: string): string {
  return name.toLowerCase().replace(/[\s_-]/g, '')
}

/** Normalises plurals in -ies, so that they are as close to the singular as plurals in -s: retry, retries. */
function compared(name: string): string {
  return plain(name).replace(/(?<=...)ies$/, 'ys')
}

/**
 * Damerau-Levenshtein distance (insert, delete, replace, transpose), by branch and bound: returns `most` (at most 3) for
 * any distance of `most` or more.
 */
function slips(from: string, to: string, most: number): number {
  if (Math.abs(from.length - to.length) >= most) return most
  let same = 0
  while (same < from.length && from[same] === to[same]) same++
  const [a, b] = [from.slice(same), to.slice(same)]
  if (a === b) return 0
  let least = most - 1
  if (least === 0) return 1
  const less = (dropped: number, added: number) => slips(a.slice(dropped), b.slice(added), least)
  least = Math.min(less(1, 0), less(0, 1), less(1, 1))
  if (a[0] === b[1] && a[1] === b[0]) least = Math.min(least, less(2, 2))
  return least + 1
}
