/** Plans the deaths of each trial: first lives at one crash point after the other, recoveries at uncovered points, some at random times. */
import { createRandom } from '../../src/testing/index.ts'
import type { Life } from './life.ts'
import { type Asker, type Coverage, createSweep } from './sweep.ts'
import type { Death } from './trial.ts'

/** Shares of all kills that fall into recoveries, and at random times from outside; the others end first lives. */
export const shares = { recovery: 0.3, timed: 0.06 } as const

/** Limits the deaths of one trial. */
const recoveryDeaths = 2
const timedDeaths = 3

export interface PlanOptions {
  readonly seed: number
  /** Kills of the whole campaign. */
  readonly wanted: number
  /** Undisturbed lives: the crash points of a first life. */
  readonly calm: readonly Life[]
  /** Duration of the shortest of them. */
  readonly calmMs: number
}

export interface Plan {
  /** Returns the deaths of one trial, one for each life; `lived` receives each life. */
  trial(index: number, asker: Asker): TrialPlan
  readonly kills: number
  coverage(): { readonly first: Coverage; readonly recovery: Coverage; readonly timed: number }
}

export interface TrialPlan {
  death(): Death | undefined
  lived(life: Life): void
}

export function createPlan({ seed, wanted, calm, calmMs }: PlanOptions): Plan {
  const first = createSweep(seed)
  const recovery = createSweep(seed)
  for (const life of calm) first.lived(passedBy(life))
  const count = { first: 0, recovery: 0, timed: 0 }
  const kills = () => count.first + count.recovery + count.timed
  /** Random times chosen so far: a life may end before its time, and is not replaced. */
  let timed = 0

  /** Chooses an uncovered point of first lives; when all are covered, a death after which a recovery reaches an uncovered point. */
  const firstDeath = (asker: Asker): Death => {
    const wish = first.complete ? recovery.wish(asker) : undefined
    return { points: wish === undefined ? first.one(asker) : first.only(wish) }
  }

  return {
    trial(index, asker) {
      const random = createRandom(seed * 100_003 + index)
      const isTimed = timed < shares.timed * kills()
      const died: Life[] = []
      let death: Death | undefined
      const next = (): Death | undefined => {
        if (kills() >= wanted) return undefined
        if (isTimed) {
          if (died.length === timedDeaths) return undefined
          timed += 1
          return { afterMs: random.int(0, Math.ceil(calmMs)) }
        }
        if (died.length === 0) return firstDeath(asker)
        const more = died.length <= recoveryDeaths && count.recovery < shares.recovery * kills()
        return more ? { points: recovery.all(asker) } : undefined
      }
      return {
        death() {
          death = next()
          return death
        },
        lived(life) {
          const targets = death && 'points' in death ? death.points : []
          const [sweep, sort] =
            died.length === 0 ? ([first, 'first'] as const) : ([recovery, 'recovery'] as const)
          if (life.end === 'killed') {
            count[isTimed ? 'timed' : sort] += 1
            if (life.diedAt !== undefined) sweep.died(life.diedAt, targets)
          } else sweep.lived(sort === 'first' ? passedBy(life) : recoveredBy(life), targets, died[0]?.diedAt)
          died.push(life)
        },
      }
    },
    get kills() {
      return kills()
    },
    coverage: () => ({ first: first.coverage(), recovery: recovery.coverage(), timed: count.timed }),
  }
}

function passedBy({ reports }: Life): readonly string[] {
  return reports.flatMap((report) => (report.kind === 'done' ? report.passed : []))
}

/** Returns the crash points until every run had made progress. */
function recoveredBy({ reports }: Life): readonly string[] {
  return reports.flatMap((report) => (report.kind === 'done' ? report.passed.slice(0, report.recovered) : []))
}
