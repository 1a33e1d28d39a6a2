/** Tests the campaign itself: no crash point is omitted, and none repeats before all are covered once. */
import { describe, expect, it } from 'vitest'
import { type Asker, createSweep, patience } from './sweep.ts'

const alone: Asker = { lane: 0, lanes: 1 }
const points = Array.from({ length: 20 }, (_, index) => `append:before#${index + 1}`)

/** Dies this many times at the first point that the sweep returns; returns the points in order. */
function deaths(sweep: ReturnType<typeof createSweep>, count: number): string[] {
  return Array.from({ length: count }, () => {
    const targets = sweep.one(alone)
    const [point = ''] = targets
    sweep.died(point, targets)
    return point
  })
}

describe('a sweep', () => {
  it('sends a process to every point before it sends one to any point for the second time', () => {
    const sweep = createSweep(1)
    sweep.lived(points)
    const [once, twice] = [deaths(sweep, 20), deaths(sweep, 20)]
    expect(new Set(once)).toEqual(new Set(points))
    expect(new Set(twice)).toEqual(new Set(points))
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
    expect(order(1, points)).toEqual(order(1, [...points].reverse()))
    expect(order(1, points)).not.toEqual(order(2, points))
  })

  it('sends concurrent callers to different points', () => {
    const sweep = createSweep(1)
    sweep.lived(points)
    const [[one], [other]] = [sweep.one({ lane: 0, lanes: 2 }), sweep.one({ lane: 1, lanes: 2 })] as const
    expect(one).not.toBe(other)
    const halves = [0, 1].map((lane) => sweep.all({ lane, lanes: 2 }))
    expect(halves.flat().sort()).toEqual([...points].sort())
  })

  it('gives up a point that lives do not reach after some tries, continues with the others, and names it', () => {
    const sweep = createSweep(1)
    sweep.lived([...points, 'rare#1'])
    sweep.lived(points)
    let sent = 0
    for (let life = 0; life < 60; life++) {
      const targets = sweep.one(alone)
      if (targets[0] === 'rare#1') {
        sent += 1
        sweep.lived(points, targets)
      } else sweep.died(targets[0] ?? '', targets)
    }
    expect(sent).toBe(patience)
    expect(sweep.complete).toBe(true)
    expect(sweep.coverage()).toMatchObject({ covered: 20, known: 21, unreached: ['rare#1'], missed: [] })
  })

  it('tries places that only some lives come to together, after all others', () => {
    const sweep = createSweep(1)
    const rare = Array.from({ length: 10 }, (_, index) => `sync:before#${index + 1}`)
    sweep.lived([...points, ...rare])
    sweep.lived(points)
    expect(new Set(deaths(sweep, 20))).toEqual(new Set(points))
    for (let life = 0; life < patience; life++) sweep.lived(points, sweep.one(alone))
    expect(sweep.complete).toBe(true)
    expect(sweep.coverage().unreached).toEqual(rare)
  })

  it('takes a place that only some lives come to whenever one does', () => {
    const sweep = createSweep(1)
    sweep.lived([...points, 'rare#1'])
    sweep.lived(points)
    expect(sweep.one(alone)).toContain('rare#1')
  })

  it('counts as missed what every life reaches and none died at, as soon as there were kills enough', () => {
    const sweep = createSweep(1)
    sweep.lived(['one#1', 'two#1'])
    sweep.died('one#1', [])
    expect(sweep.coverage()).toMatchObject({ missed: [], untried: 1 })
    sweep.died('one#1', [])
    expect(sweep.coverage()).toMatchObject({ missed: ['two#1'] })
  })

  it('knows after which death to look for a point at which none died', () => {
    const sweep = createSweep(1)
    sweep.lived(['claim:after#1'], [], 'call:before pay#1')
    expect(sweep.wish(alone)).toBe('call:before pay#1')
    sweep.died('claim:after#1', [])
    expect(sweep.wish(alone)).toBeUndefined()
  })

  it('keeps the turns of others when a process is sent to one point only', () => {
    const sweep = createSweep(1)
    sweep.lived(points)
    const [point = ''] = points
    const targets = sweep.only(point)
    expect(targets).toEqual([point])
    expect(sweep.one(alone)).not.toContain(point)
    sweep.died(point, targets)
    expect(new Set([point, ...deaths(sweep, 19)])).toEqual(new Set(points))
  })
})
