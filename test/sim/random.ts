/** Chance that can be repeated: everything random in a simulation comes from its seed, through here. */

export interface Random {
  /** In [0, 1). */
  next(): number
  /** A whole number in [0, below). */
  int(below: number): number
  /** A whole number in [from, to]. */
  between(from: number, to: number): number
  chance(probability: number): boolean
  pick<T>(list: readonly T[]): T
}

/** The generator known as mulberry32: 32 bits of state, good enough to shuffle tasks, and fast. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let word = state
    word = Math.imul(word ^ (word >>> 15), word | 1)
    word ^= word + Math.imul(word ^ (word >>> 7), word | 61)
    return ((word ^ (word >>> 14)) >>> 0) / 2 ** 32
  }
  const int = (below: number) => Math.floor(next() * below)
  return {
    next,
    int,
    between: (from, to) => from + int(to - from + 1),
    chance: (probability) => next() < probability,
    pick: (list) => list[int(list.length)]!,
  }
}

/** A number from words: the same words always give the same one (FNV-1a, stirred). */
export function mix(...words: readonly (string | number)[]): number {
  let hash = 0x811c9dc5
  for (const word of words) {
    const text = `${word}\n`
    for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  }
  hash ^= hash >>> 16
  hash = Math.imul(hash, 0x85ebca6b)
  hash ^= hash >>> 13
  return hash >>> 0
}

/** A generator for one question of one history, so that the answer does not depend on what else was asked before. */
export function randomFor(...words: readonly (string | number)[]): Random {
  return createRandom(mix(...words))
}
