/** Which places are known in lives of one sort, how often each was died at, and which are next: all once before any twice. */
import { createRandom } from '../../src/testing/noise/random.ts'

export interface Coverage {
  /** Deaths at places of these lives. */
  readonly kills: number
  /** Places that some life came to. */
  readonly known: number
  /** Those of them that somebody died at. */
  readonly covered: number
  /** Lives were sent to die there, and none of them came there: not every life does. */
  readonly unreached: readonly string[]
  /** Nobody was sent there: how many. */
  readonly untried: number
  /** Every life comes there, there were kills enough for all places, and nobody died there: a mistake of the campaign. */
  readonly missed: readonly string[]
}

/** Several ask at once; what is offered is split among them, so that no two die at one place. */
export interface Asker {
  readonly lane: number
  readonly lanes: number
}

export interface Sweep {
  /** A life came to its end: it passed these places, though it was told to die at those; `after` is the death before it. */
  lived(passed: readonly string[], told?: readonly string[], after?: string): void
  /** A life that was told to die at some places died at this one. */
  died(place: string, told: readonly string[]): void
  /** One place to die at, then those that only some lives come to, in case this one does. */
  one(asker: Asker): readonly string[]
  /** All places whose turn it is. */
  all(asker: Asker): readonly string[]
  /** This place and no other, whosever turn it is. */
  only(place: string): readonly string[]
  /** A death after which a life came to a place that nobody has died at yet; none when all were tried often enough. */
  wish(asker: Asker): string | undefined
  /** Every place was died at, or tried often enough. */
  readonly complete: boolean
  coverage(): Coverage
}

interface Row {
  readonly place: string
  /** The seed's order. */
  readonly rank: number
  kills: number
  /** Lives that were sent here in vain. */
  tries: number
  /** Lives under way that were told to die here. */
  underWay: number
  /** Lives to the end that came here. */
  lives: number
  /** The death before the last of them. */
  after?: string
}

/** So many tries in vain are enough. */
export const patience = 5

export function createSweep(seed: number): Sweep {
  const rows = new Map<string, Row>()
  let lives = 0
  let kills = 0

  const rowOf = (place: string): Row => {
    const found = rows.get(place)
    if (found) return found
    const row: Row = { place, rank: rankOf(place, seed), kills: 0, tries: 0, underWay: 0, lives: 0 }
    rows.set(place, row)
    return row
  }
  const ranked = () => [...rows.values()].sort((one, other) => one.rank - other.rank)
  const names = (which: (row: Row) => boolean) => [...rows.values()].filter(which).map(({ place }) => place)

  /** Those with the fewest deaths; and those that were tried in vain, which cost nothing. */
  const turn = () => {
    const open = ranked().filter((row) => !givenUp(row))
    const least = Math.min(...open.map((row) => row.kills))
    return { due: open.filter((row) => row.kills === least), vain: ranked().filter(givenUp) }
  }
  const steady = (row: Row) => row.lives === lives
  const tell = (chosen: readonly Row[]) => {
    for (const row of chosen) row.underWay += 1
    return chosen.map(({ place }) => place)
  }
  const settle = (told: readonly string[]) => {
    for (const place of told) rowOf(place).underWay -= 1
  }

  return {
    lived(passed, told = [], after) {
      lives += 1
      settle(told)
      for (const row of passed.map(rowOf)) {
        row.lives += 1
        if (after !== undefined) row.after = after
      }
      // After a death, it depends on that death where a life comes to: nothing was tried.
      const came = new Set(passed)
      if (after === undefined) for (const place of told) if (!came.has(place)) rowOf(place).tries += 1
    },
    died(place, told) {
      kills += 1
      settle(told)
      rowOf(place).kills += 1
    },
    one(asker) {
      const { due, vain } = turn()
      // When others are on their way to all of them, one more goes where the first of them went.
      // Rare places come last: most of them are come to on the way to others.
      const waiting = [...due.filter(steady), ...due.filter((row) => !steady(row))]
      const chosen = waiting.find((row) => row.underWay === 0) ?? waiting[0]
      if (!chosen) return []
      const rare = [...due, ...vain].filter((row) => row.kills === 0 && !steady(row) && isFor(asker, row))
      return tell([chosen, ...rare.filter((row) => row !== chosen && row.underWay === 0)])
    },
    all(asker) {
      const { due, vain } = turn()
      const own = due.filter((row) => isFor(asker, row))
      return tell([...(own.length > 0 ? own : due), ...vain.filter((row) => isFor(asker, row))])
    },
    only: (place) => tell([rowOf(place)]),
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

/** A number for a name, another one with another seed; it does not matter when the name became known. */
function rankOf(place: string, seed: number): number {
  let hash = 0x811c9dc5
  for (const character of place) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193)
  return createRandom(hash ^ Math.imul(seed, 100_003)).int(0, 0x7fffffff)
}
