/** Tracks the known crash points of one kind of life, the deaths at each, and which are next: all once before any twice. */
import { createRandom } from '../../src/testing/index.ts'

export interface Coverage {
  /** Deaths at points of these lives. */
  readonly kills: number
  /** Points that some life reached. */
  readonly known: number
  /** Points with at least one death. */
  readonly covered: number
  /** Points that were targeted but not reached: not every life reaches them. */
  readonly unreached: readonly string[]
  /** Number of points that were never targeted. */
  readonly untried: number
  /** Points that every life reaches, without a death although there were enough kills for all: a defect of the campaign. */
  readonly missed: readonly string[]
}

/** One of several parallel callers; the points are split among them, so that no two die at the same one. */
export interface Asker {
  readonly lane: number
  readonly lanes: number
}

export interface Sweep {
  /** Records a life that ended on its own: it passed these points although it was to die at `targets`; `after` is the death before it. */
  lived(passed: readonly string[], targets?: readonly string[], after?: string): void
  /** Records that a life with these targets died at this point. */
  died(point: string, targets: readonly string[]): void
  /** Returns one point to die at, then rare points in case this life reaches one. */
  one(asker: Asker): readonly string[]
  /** Returns all points that are next. */
  all(asker: Asker): readonly string[]
  /** Returns this point alone, even if others are next. */
  only(point: string): readonly string[]
  /** Returns a death after which a life reached a point without a death; `undefined` when all were tried often enough. */
  wish(asker: Asker): string | undefined
  /** Every point has a death, or was tried often enough. */
  readonly complete: boolean
  coverage(): Coverage
}

interface Row {
  readonly point: string
  /** Order derived from the seed. */
  readonly rank: number
  kills: number
  /** Lives that were sent here and did not reach it. */
  tries: number
  /** Active lives that target this point. */
  underWay: number
  /** Undisturbed lives that reached it. */
  lives: number
  /** The death before the last of them. */
  after?: string
}

/** Failed tries after which a point is given up. */
export const patience = 5

export function createSweep(seed: number): Sweep {
  const rows = new Map<string, Row>()
  let lives = 0
  let kills = 0

  const rowOf = (point: string): Row => {
    const found = rows.get(point)
    if (found) return found
    const row: Row = { point, rank: rankOf(point, seed), kills: 0, tries: 0, underWay: 0, lives: 0 }
    rows.set(point, row)
    return row
  }
  const ranked = () => [...rows.values()].sort((one, other) => one.rank - other.rank)
  const names = (which: (row: Row) => boolean) => [...rows.values()].filter(which).map(({ point }) => point)

  /** Points with the fewest deaths, and points that were tried without success, which cost nothing. */
  const turn = () => {
    const open = ranked().filter((row) => !givenUp(row))
    const least = Math.min(...open.map((row) => row.kills))
    return { due: open.filter((row) => row.kills === least), vain: ranked().filter(givenUp) }
  }
  const steady = (row: Row) => row.lives === lives
  const assignTargets = (chosen: readonly Row[]) => {
    for (const row of chosen) row.underWay += 1
    return chosen.map(({ point }) => point)
  }
  const settle = (targets: readonly string[]) => {
    for (const point of targets) rowOf(point).underWay -= 1
  }

  return {
    lived(passed, targets = [], after) {
      lives += 1
      settle(targets)
      for (const row of passed.map(rowOf)) {
        row.lives += 1
        if (after !== undefined) row.after = after
      }
      // After a death, the points that a life reaches depend on that death, so this is not counted as a try.
      const came = new Set(passed)
      if (after === undefined) for (const point of targets) if (!came.has(point)) rowOf(point).tries += 1
    },
    died(point, targets) {
      kills += 1
      settle(targets)
      rowOf(point).kills += 1
    },
    one(asker) {
      const { due, vain } = turn()
      // If lives are on their way to all of them, one more targets the first.
      // Rare points come last: lives reach most of them on the way to others.
      const waiting = [...due.filter(steady), ...due.filter((row) => !steady(row))]
      const chosen = waiting.find((row) => row.underWay === 0) ?? waiting[0]
      if (!chosen) return []
      const rare = [...due, ...vain].filter((row) => row.kills === 0 && !steady(row) && isFor(asker, row))
      return assignTargets([chosen, ...rare.filter((row) => row !== chosen && row.underWay === 0)])
    },
    all(asker) {
      const { due, vain } = turn()
      const own = due.filter((row) => isFor(asker, row))
      return assignTargets([...(own.length > 0 ? own : due), ...vain.filter((row) => isFor(asker, row))])
    },
    only: (point) => assignTargets([rowOf(point)]),
    wish(asker) {
      const [chosen] = ranked()
        .filter((row) => row.kills === 0 && row.after !== undefined && !givenUp(row) && isFor(asker, row))
        .sort((one, other) => one.tries - other.tries)
      if (chosen) chosen.tries += 1
      return chosen?.after
    },
    get complete() {
      return [...rows.values()].every((row) => row.kills > 0 || givenUp(row))
    },
    coverage: () => ({
      kills,
      known: rows.size,
      covered: names((row) => row.kills > 0).length,
      unreached: names((row) => row.kills === 0 && row.tries > 0),
      untried: names((row) => row.kills === 0 && row.tries === 0).length,
      missed: names((row) => row.kills === 0 && steady(row) && kills >= rows.size),
    }),
  }
}

const givenUp = (row: Row) => row.kills === 0 && row.tries >= patience

const isFor = ({ lane, lanes }: Asker, { rank }: Row) => rank % lanes === lane

/** Hashes a name with the seed (FNV-1a); independent of when the name became known. */
function rankOf(point: string, seed: number): number {
  let hash = 0x811c9dc5
  for (const character of point) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193)
  return createRandom(hash ^ Math.imul(seed, 100_003)).int(0, 0x7fffffff)
}
