/** Matches rule names against globs, where `*` matches anything. */

export function matchesAny(name: string, globs: readonly string[]): boolean {
  return globs.some((glob) => matches(name, glob))
}

/**
 * Matches without a regex, so that no pattern in a file can be slow: the parts between the stars must follow
 * in order.
 */
export function matches(name: string, glob: string): boolean {
  const [first = '', ...rest] = glob.toUpperCase().split('*')
  const said = name.toUpperCase()
  const last = rest.pop()
  if (last === undefined) return said === first
  if (!said.startsWith(first) || !said.endsWith(last) || said.length < first.length + last.length)
    return false
  let at = first.length
  for (const part of rest) {
    const found = said.indexOf(part, at)
    if (found < 0) return false
    at = found + part.length
  }
  return at <= said.length - last.length
}
