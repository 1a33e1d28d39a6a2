/** Ids that sort by the time at which they were made (UUID version 7): rows of runs that live together stand together. */

/**
 * @example
 * timeOrderedId(0, new Uint8Array(16)) // '00000000-0000-7000-8000-000000000000'
 */
export function timeOrderedId(now: number, random: Uint8Array): string {
  const bytes = Uint8Array.from(random)
  for (let index = 0; index < 6; index++) bytes[index] = Math.floor(now / 2 ** (40 - 8 * index)) % 256
  bytes[6] = 0x70 | ((bytes[6] ?? 0) & 0x0f)
  bytes[8] = 0x80 | ((bytes[8] ?? 0) & 0x3f)
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
  return [8, 12, 16, 20, 32].map((end, index, ends) => hex.slice(ends[index - 1] ?? 0, end)).join('-')
}
