/** Tests the campaign itself: no crash point is omitted, and none repeats before all are covered once. */
import { describe, expect, it } from 'vitest'
import { type Asker, createSweep, patience } from './sweep.ts'

const alone: Asker = { lane: 0, lanes: 1 }
const places = Array.from({ length: 20 }, (_, index) => `append:before#${index + 1}`)

/** Dies this many times at the first point that the sweep returns; returns the points in order. */
function deaths(sweep: ReturnType<typeof createSweep>, count: number): string[] {
  return Array.from({ length: count }, () => {
    const told = sweep.one(alone)
    const [place = ''] = told
    sweep.died(place, told)
    return place
  })
}

describe('a sweep', () => {
  it('sends somebody to every place before it sends anybody to one for the second time', () => {
    const sweep = createSweep(1)
    sweep.lived(places)
    const [once, twice] = [deaths(sweep, 20), deaths(sweep, 20)]
    expect(new Set(once)).toEqual(new Set(places))
    expect(new Set(twice)).toEqual(new Set(places))
    expect(sweep.coverage()).toEqual({
      kills: 40,
      known: 20,
      covered: 20,
      unreached: [],
      untried: 0,
      missed: [],
    })
  })

  it('goes by its seed, whatever the order in which places become known', () => {
    const order = (seed: number, known: readonly string[]) => {
      const sweep = createSweep(seed)
      sweep.lived(known)
      return deaths(sweep, 20)
    }
    expect(order(1, places)).toEqual(order(1, [...places].reverse()))
    expect(order(1, places)).not.toEqual(order(2, places))
  })

  it('sends those who ask at once to different places', () => {
    const sweep = createSweep(1)
    sweep.lived(places)
    const [[one], [other]] = [sweep.one({ lane: 0, lanes: 2 }), sweep.one({ lane: 1, lanes: 2 })] as const
    expect(one).not.toBe(other)
    const halves = [0, 1].map((lane) => sweep.all({ lane, lanes: 2 }))
    expect(halves.flat().sort()).toEqual([...places].sort())
  })

  it('gives up a place that lives do not come to after some tries, goes on with the others, and names it', () => {
    const sweep = createSweep(1)
    sweep.lived([...places, 'rare#1'])
    sweep.lived(places)
    let sent = 0
    for (let life = 0; life < 60; life++) {
      const told = sweep.one(alone)
      if (told[0] === 'rare#1') {
        sent += 1
        sweep.lived(places, told)
      } else sweep.died(told[0] ?? '', told)
    }
    expect(sent).toBe(patience)
    expect(sweep.complete).toBe(true)
    expect(sweep.coverage()).toMatchObject({ covered: 20, known: 21, unreached: ['rare#1'], missed: [] })
  })

  it('tries places that only some lives come to together, after all others', () => {
    const sweep = createSweep(1)
    const rare = Array.from({ length: 10 }, (_, index) => `sync:before#${index + 1}`)
    sweep.lived([...places, ...rare])
    sweep.lived(places)
    expect(new Set(deaths(sweep, 20))).toEqual(new Set(places))
    for (let life = 0; life < patience; life++) sweep.lived(places, sweep.one(alone))
    expect(sweep.complete).toBe(true)
    expect(sweep.coverage().unreached).toEqual(rare)
  })

  it('takes a place that only some lives come to whenever one does', () => {
    const sweep = createSweep(1)
    sweep.lived([...places, 'rare#1'])
    sweep.lived(places)
    expect(sweep.one(alone)).toContain('rare#1')
  })

  it('counts as missed what every life comes to and nobody died at, as soon as there were kills enough', () => {
    const sweep = createSweep(1)
    sweep.lived(['one#1', 'two#1'])
    sweep.died('one#1', [])
    expect(sweep.coverage()).toMatchObject({ missed: [], untried: 1 })
    sweep.died('one#1', [])
    expect(sweep.coverage()).toMatchObject({ missed: ['two#1'] })
  })

  it('knows after which death to look for a place that nobody died at', () => {
    const sweep = createSweep(1)
    sweep.lived(['claim:after#1'], [], 'call:before pay#1')
    expect(sweep.wish(alone)).toBe('call:before pay#1')
    sweep.died('claim:after#1', [])
    expect(sweep.wish(alone)).toBeUndefined()
  })

  it('forgets nothing of the turns of others when somebody is sent to one place only', () => {
    const sweep = createSweep(1)
    sweep.lived(places)
    const [place = ''] = places
    const told = sweep.only(place)
    expect(told).toEqual([place])
    expect(sweep.one(alone)).not.toContain(place)
    sweep.died(place, told)
    expect(new Set([place, ...deaths(sweep, 19)])).toEqual(new Set(places))
  })
})
