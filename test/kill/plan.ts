/** How the processes of each trial die: first lives place by place, recoveries where nobody died yet, some at any moment. */
import { createRandom } from '../../src/testing/noise/random.ts'
import type { Life } from './life.ts'
import { type Asker, type Coverage, createSweep } from './sweep.ts'
import type { Death } from './trial.ts'

/** What part of all kills falls into recoveries, and at moments from outside; the others end first lives. */
export const shares = { recovery: 0.3, moment: 0.06 } as const

/** A trial is no endless row of deaths. */
const recoveryDeaths = 2
const momentDeaths = 3

export interface PlanOptions {
  readonly seed: number
  /** Kills of the whole campaign. */
  readonly wanted: number
  /** Lives that nothing happened to: what a first life passes. */
  readonly calm: readonly Life[]
  /** How long the shortest of them took. */
  readonly calmMs: number
}

export interface Plan {
  /** The deaths of one trial, asked for life by life; `lived` is told of each. */
  trial(index: number, asker: Asker): TrialPlan
  readonly kills: number
  coverage(): { readonly first: Coverage; readonly recovery: Coverage; readonly moments: number }
}

export interface TrialPlan {
  death(): Death | undefined
  lived(life: Life): void
}

export function createPlan({ seed, wanted, calm, calmMs }: PlanOptions): Plan {
  const first = createSweep(seed)
  const recovery = createSweep(seed)
  for (const life of calm) first.lived(passedBy(life))
  const count = { first: 0, recovery: 0, moment: 0 }
  const kills = () => count.first + count.recovery + count.moment
  /** Moments that were chosen: a life may be over before its moment, and is not made up for. */
  let moments = 0

  /** While first lives have new places to die at, there; later, where a recovery comes to a new place. */
  const firstDeath = (asker: Asker): Death => {
    const wish = first.complete ? recovery.wish(asker) : undefined
    return { places: wish === undefined ? first.one(asker) : first.only(wish) }
  }

  return {
    trial(index, asker) {
      const random = createRandom(seed * 100_003 + index)
      const atMoments = moments < shares.moment * kills()
      const died: Life[] = []
      let death: Death | undefined
      const next = (): Death | undefined => {
        if (kills() >= wanted) return undefined
        if (atMoments) {
          if (died.length === momentDeaths) return undefined
          moments += 1
          return { afterMs: random.int(0, Math.ceil(calmMs)) }
        }
        if (died.length === 0) return firstDeath(asker)
        const more = died.length <= recoveryDeaths && count.recovery < shares.recovery * kills()
        return more ? { places: recovery.all(asker) } : undefined
      }
      return {
        death() {
          death = next()
          return death
        },
        lived(life) {
          const told = death && 'places' in death ? death.places : []
          const [sweep, sort] =
            died.length === 0 ? ([first, 'first'] as const) : ([recovery, 'recovery'] as const)
          if (life.end === 'killed') {
            count[atMoments ? 'moment' : sort] += 1
            if (life.diedAt !== undefined) sweep.died(life.diedAt, told)
          } else sweep.lived(sort === 'first' ? passedBy(life) : recoveredBy(life), told, died[0]?.diedAt)
          died.push(life)
        },
      }
    },
    get kills() {
      return kills()
    },
    coverage: () => ({ first: first.coverage(), recovery: recovery.coverage(), moments: count.moment }),
  }
}

function passedBy({ reports }: Life): readonly string[] {
  return reports.flatMap((report) => (report.kind === 'done' ? report.passed : []))
}

/** The places until every run had gone a step. */
function recoveredBy({ reports }: Life): readonly string[] {
  return reports.flatMap((report) => (report.kind === 'done' ? report.passed.slice(0, report.recovered) : []))
}
