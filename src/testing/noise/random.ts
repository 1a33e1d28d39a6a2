/** Seeded random numbers for generators of test data: the same seed always gives the same texts. */

export interface Random {
  /** A number in [0, 1). */
  next(): number
  /** A whole number from `min` to `max`, both included. */
  int(min: number, max: number): number
  /** True with the given probability. Default 0.5. */
  chance(probability?: number): boolean
  pick<T>(list: readonly T[]): T
  /** `count` different items of the list, in the order of the list; all of them if there are fewer. */
  some<T>(list: readonly T[], count: number): T[]
  shuffle<T>(list: readonly T[]): T[]
}

/** Mulberry32: 32 bits of state, good enough to vary texts, identical on every engine. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
  const int = (min: number, max: number): number => min + Math.floor(next() * (max - min + 1))
  const shuffle = <T>(list: readonly T[]): T[] => {
    const copy = [...list]
    for (let i = copy.length - 1; i > 0; i--) {
      const j = int(0, i)
      ;[copy[i], copy[j]] = [copy[j] as T, copy[i] as T]
    }
    return copy
  }
  return {
    next,
    int,
    chance: (probability = 0.5) => next() < probability,
    pick: (list) => {
      if (list.length === 0) throw new RangeError('Cannot pick from an empty list')
      return list[int(0, list.length - 1)] as (typeof list)[number]
    },
    some: (list, count) => {
      const chosen = new Set(shuffle(list.map((_, index) => index)).slice(0, count))
      return list.filter((_, index) => chosen.has(index))
    },
    shuffle,
  }
}

/** Mixes a seed with a number, so that sample 17 is the same whether or not 0–16 were drawn. */
export function mixSeed(seed: number, index: number): number {
  let h = (seed ^ Math.imul(index + 1, 0x9e3779b1)) >>> 0
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return (h ^ (h >>> 16)) >>> 0
}
