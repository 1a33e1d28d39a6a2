/**
 * Caches by text what is computed from it. Callers send the same contracts and drafts again and again, so that the text of
 * an input finds in a microsecond what takes many to compute, and equal inputs become one object, which other caches find by
 * identity. Bounded: the oldest entry is evicted first, and longer texts are not kept.
 */
export interface TextCache<T> {
  get(text: string): T | undefined
  set(text: string, value: T): void
}

const defaults = { entries: 256, length: 16_384 } as const

export function createTextCache<T>({
  entries,
  length,
}: {
  readonly entries: number
  readonly length: number
} = defaults): TextCache<T> {
  const kept = new Map<string, T>()
  return {
    get: (text) => kept.get(text),
    set(text, value) {
      if (text.length > length) return
      kept.set(text, value)
      const [oldest] = kept.keys()
      if (kept.size > entries && oldest !== undefined) kept.delete(oldest)
    },
  }
}
