/** Tests which processes the campaign kills, and where, with synthetic lives. */
import { describe, expect, it } from 'vitest'
import type { Life } from './life.ts'
import { createPlan, shares } from './plan.ts'
import type { Death } from './trial.ts'

const first = Array.from({ length: 40 }, (_, index) => `sql:commit#${index + 1}`)
/** A recovery ends after half of these. */
const later = Array.from({ length: 30 }, (_, index) => `append:after#${index + 1}`)

const done = (passed: readonly string[], recovered = passed.length): Life => ({
  end: 'done',
  reports: [{ kind: 'done', passed, recovered }],
  errors: '',
})

/** Simulates a process: it dies at the first crash point that it is given, or lives. */
function live(passed: readonly string[], death: Death | undefined, lastsMs: number): Life {
  if (death && 'afterMs' in death)
    return death.afterMs < lastsMs ? { end: 'killed', reports: [], errors: '' } : done(passed, 15)
  const diedAt = passed.find((point) => death?.points.includes(point))
  return diedAt === undefined ? done(passed, 15) : { end: 'killed', diedAt, reports: [], errors: '' }
}

function campaign(kills: number, { seed = 1, lastsMs = 2_000 } = {}) {
  const plan = createPlan({ seed, wanted: kills, calm: [done(first), done(first)], calmMs: 1_000 })
  const deaths: string[][] = []
  for (let index = 1; plan.kills < kills; index++) {
    const trial = plan.trial(index, { lane: 0, lanes: 1 })
    const died: string[] = []
    for (let life: Life | undefined; life?.end !== 'done'; ) {
      const death = trial.death()
      life = live(died.length === 0 ? first : later, death, lastsMs)
      trial.lived(life)
      if (life.end === 'killed') died.push(life.diedAt ?? 'moment')
    }
    deaths.push(died)
  }
  return { ...plan.coverage(), deaths }
}

describe('a campaign', () => {
  it('that is long enough ends a life at every place, of first lives and of recoveries', () => {
    const { first: firsts, recovery } = campaign(70)
    expect(firsts).toMatchObject({ known: 40, covered: 40, missed: [] })
    expect(recovery).toMatchObject({ known: 15, covered: 15, missed: [] })
  })

  it('that is too short for that repeats nothing', () => {
    const { first: firsts } = campaign(30)
    expect(firsts.kills).toBe(firsts.covered)
    expect(firsts.untried).toBe(40 - firsts.covered)
  })

  it('keeps its shares, and exactly so many kills', () => {
    const { first: firsts, recovery, timed } = campaign(400)
    expect(firsts.kills + recovery.kills + timed).toBe(400)
    expect(recovery.kills).toBeGreaterThanOrEqual(400 * shares.recovery - 2)
    expect(recovery.kills).toBeLessThanOrEqual(400 * shares.recovery + 2)
    expect(timed).toBeGreaterThanOrEqual(400 * shares.timed - 3)
    expect(timed).toBeLessThanOrEqual(400 * shares.timed + 3)
  })

  it('continues when lives end before their planned death', () => {
    const { first: firsts, timed, deaths } = campaign(100, { lastsMs: 0 })
    expect(timed).toBe(0)
    expect(firsts.covered).toBe(40)
    expect(deaths.filter((died) => died.length === 0).length).toBeLessThanOrEqual(10)
  })

  it('goes by its seed', () => {
    expect(campaign(50)).toEqual(campaign(50))
    expect(campaign(50).deaths).not.toEqual(campaign(50, { seed: 2 }).deaths)
  })
})
