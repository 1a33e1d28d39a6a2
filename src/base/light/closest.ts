/** Replaces `closest.ts` in the light reader: suggests names that differ in case and separators only. */

export function closest(name: string, candidates: readonly string[]): string | undefined {
  return candidates.find((candidate) => plain(candidate) === plain(name))
}

export function beginning(): undefined {
  return undefined
}

/** Removes case and separators from a name. */
export function plain(name: string): string {
  return name.toLowerCase().replace(/[\s_-]/g, '')
}
