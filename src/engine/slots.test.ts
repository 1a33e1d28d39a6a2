import { describe, expect, it } from 'vitest'
import { createSlots, type SlotLimits } from './slots.ts'

/** Runs that each want a number of places, and take what they get when it is their turn. */
function crowd(limits: SlotLimits, wants: Record<string, number>) {
  const taken: string[] = []
  const left = new Map(Object.entries(wants))
  const visit = (runId: string) => {
    while ((left.get(runId) ?? 0) > 0) {
      if (!slots.take(runId, 'c')) {
        slots.wait(runId)
        break
      }
      left.set(runId, (left.get(runId) ?? 0) - 1)
      taken.push(runId)
    }
    slots.done(runId)
  }
  const slots = createSlots(limits, visit)
  return { slots, taken, visit }
}

describe('slots', () => {
  it('never admits more than the process may run', () => {
    const { slots, visit } = crowd({ process: 3 }, { a: 10, b: 10 })
    visit('a')
    visit('b')
    expect(slots.taken).toBe(3)
    for (let i = 0; i < 5; i++) {
      slots.give('c')
      expect(slots.taken).toBe(3)
    }
  })

  it('gives places to runs in turn: one with a thousand nodes does not starve one with two', () => {
    const { slots, taken, visit } = crowd({ process: 2 }, { big: 1000, small: 2 })
    visit('big')
    visit('small')
    for (let i = 0; i < 4; i++) slots.give('c')
    expect(taken.slice(0, 6).filter((runId) => runId === 'small')).toHaveLength(2)
  })

  it('holds a capability to its own limit, and lets the others pass', () => {
    const slots = createSlots({ process: 9, capability: (id) => (id === 'slow' ? 1 : undefined) }, () => {})
    expect([slots.take('a', 'slow'), slots.take('b', 'slow'), slots.take('b', 'fast')]).toEqual([
      true,
      false,
      true,
    ])
    slots.give('slow')
    expect(slots.take('b', 'slow')).toBe(true)
  })

  it('does not call anybody for ever when nobody can use the room', () => {
    let calls = 0
    const slots = createSlots({ process: 9, capability: () => 1 }, (runId) => {
      calls++
      if (!slots.take(runId, 'c')) slots.wait(runId)
      slots.done(runId)
    })
    slots.take('x', 'c')
    slots.take('y', 'other')
    for (const runId of ['a', 'b', 'd']) slots.wait(runId)
    slots.give('other')
    expect(calls).toBeLessThanOrEqual(3)
    slots.give('c')
    expect(slots.taken).toBe(1)
  })

  it('passes the turn on when a run that waited is gone', () => {
    const called: string[] = []
    const slots = createSlots({ process: 1 }, (runId) => {
      called.push(runId)
      if (runId === 'gone') slots.done(runId)
      else {
        slots.take(runId, 'c')
        slots.done(runId)
      }
    })
    slots.take('first', 'c')
    slots.wait('gone')
    slots.wait('next')
    slots.give('c')
    expect(called).toEqual(['gone', 'next'])
    expect(slots.taken).toBe(1)
  })
})
