/** The name that somebody probably meant: for "did you mean" in messages, never for guessing a value. */

/** Longer names are not slips of the pen, and comparing them costs the product of their lengths. */
const longestName = 64
const mostCandidates = 1_000

/** The candidate that differs least from a name: in case and separators only, or by a slip or two; else nothing. */
export function closest(name: string, candidates: readonly string[]): string | undefined {
  if (name.length > longestName || candidates.length > mostCandidates) return undefined
  const wanted = plain(name)
  let best: string | undefined
  let least = Math.min(2, Math.floor(wanted.length / 3)) + 1
  for (const candidate of candidates) {
    if (candidate.length > longestName) continue
    const distance = slips(wanted, plain(candidate), least)
    if (distance < least) [best, least] = [candidate, distance]
  }
  return best
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[\s_-]/g, '')
}

/** Rows of distances, kept: a file may have a thousand wrong names and a thousand right ones. */
const rows = [0, 1, 2].map(() => new Uint8Array(longestName + 1)) as [Uint8Array, Uint8Array, Uint8Array]

/** Letters to add, drop, change or swap with their neighbour to get from one word to the other; `most` if there are as many or more. */
function slips(from: string, to: string, most: number): number {
  if (Math.abs(from.length - to.length) >= most) return most
  let [before, row, next] = rows
  let leastBefore = 0
  for (let j = 0; j <= to.length; j++) row[j] = j
  for (let i = 1; i <= from.length; i++) {
    next[0] = i
    let least = i
    for (let j = 1; j <= to.length; j++) {
      const changed = (row[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1)
      let distance = Math.min(changed, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1)
      const swapped = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1]
      if (swapped) distance = Math.min(distance, (before[j - 2] ?? 0) + 1)
      next[j] = distance
      least = Math.min(least, distance)
    }
    // Later rows come from these two, and are not less.
    if (least >= most && leastBefore >= most) return most
    leastBefore = least
    ;[before, row, next] = [row, next, before]
  }
  return row[to.length] ?? 0
}
