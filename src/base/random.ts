/**
 * Random bytes for ids. Asks the system for many at once, because one request per id takes longer than all the rest of the id.
 * No byte is given twice.
 */
const pool = new Uint8Array(4_096)
let used = pool.length

/** Returns up to 4,096 bytes from the system's secure source. */
export function takeRandomBytes(count: number): Uint8Array {
  if (used + count > pool.length) {
    globalThis.crypto.getRandomValues(pool)
    used = 0
  }
  used += count
  return pool.slice(used - count, used)
}
