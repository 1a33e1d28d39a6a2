import { describe, expect, it } from 'vitest'
import { createSlots, type SlotLimits } from './slots.ts'

/** Runs that each need a number of slots, and take what they get when it is their turn. */
function crowd(limits: SlotLimits, needs: Record<string, number>) {
  const taken: string[] = []
  const left = new Map(Object.entries(needs))
  const visit = (runId: string) => {
    while ((left.get(runId) ?? 0) > 0 && slots.take(runId, 'c')) {
      left.set(runId, (left.get(runId) ?? 0) - 1)
      taken.push(runId)
    }
    slots.done(runId, { more: (left.get(runId) ?? 0) > 0 })
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
      slots.release('c')
      expect(slots.taken).toBe(3)
    }
  })

  it('gives places to runs in turn: one with a thousand nodes does not starve one with two', () => {
    const { slots, taken, visit } = crowd({ process: 2 }, { big: 1000, small: 2 })
    visit('big')
    visit('small')
    for (let i = 0; i < 4; i++) slots.release('c')
    expect(taken.slice(0, 6).filter((runId) => runId === 'small')).toHaveLength(2)
  })

  it('gives slots to tenants in turn: one with 500 runs does not starve one with one', () => {
    const called: string[] = []
    const slots = createSlots({ process: 2 }, (runId) => {
      called.push(runId)
      slots.take(runId, 'c')
      slots.done(runId, { more: false })
    })
    for (const runId of ['x', 'y']) slots.take(runId, 'c')
    for (let nth = 0; nth < 500; nth++) slots.done(`many-${nth}`, { more: true, tenant: 'many' })
    slots.done('one', { more: true, tenant: 'one' })
    for (let nth = 0; nth < 3; nth++) slots.release('c')
    expect(called).toEqual(['many-0', 'one', 'many-1'])
  })

  it('holds a capability to its own limit, and lets the others pass', () => {
    const slots = createSlots({ process: 9, capability: (id) => (id === 'slow' ? 1 : undefined) }, () => {})
    expect([slots.take('a', 'slow'), slots.take('b', 'slow'), slots.take('b', 'fast')]).toEqual([
      true,
      false,
      true,
    ])
    slots.release('slow')
    expect(slots.take('b', 'slow')).toBe(true)
  })

  it('does not call runs for ever when none can use the free slots', () => {
    let calls = 0
    const slots = createSlots({ process: 9, capability: () => 1 }, (runId) => {
      calls++
      slots.done(runId, { more: !slots.take(runId, 'c') })
    })
    slots.take('x', 'c')
    slots.take('y', 'other')
    for (const runId of ['a', 'b', 'd']) slots.done(runId, { more: true })
    slots.release('other')
    expect(calls).toBeLessThanOrEqual(6)
    slots.release('c')
    expect(slots.taken).toBe(1)
  })

  it('passes the turn on when a run that waited is gone', () => {
    const called: string[] = []
    const slots = createSlots({ process: 1 }, (runId) => {
      called.push(runId)
      if (runId !== 'gone') slots.take(runId, 'c')
      slots.done(runId, { more: false })
    })
    slots.take('first', 'c')
    slots.done('gone', { more: true })
    slots.done('next', { more: true })
    slots.release('c')
    expect(called).toEqual(['gone', 'next'])
    expect(slots.taken).toBe(1)
  })

  it('calls a run that found no slot just before one was released', () => {
    const called: string[] = []
    const slots = createSlots({ process: 1 }, (runId) => called.push(runId))
    slots.take('first', 'c')
    expect(slots.take('second', 'c')).toBe(false)
    slots.release('c')
    slots.done('second', { more: true })
    expect(called).toEqual(['second'])
  })

  it('calls a run that came during the turn of another who then needs nothing', () => {
    const called: string[] = []
    const slots = createSlots({ process: 1 }, (runId) => called.push(runId))
    slots.take('first', 'c')
    slots.done('second', { more: !slots.take('second', 'c') })
    slots.release('c')
    slots.done('third', { more: !slots.take('third', 'c') })
    expect(called).toEqual(['second'])
    slots.done('second', { more: false })
    expect(called).toEqual(['second', 'third'])
  })

  it('gives nothing away once it is closed', () => {
    const slots = createSlots({}, () => {})
    slots.close()
    expect(slots.take('a', 'c')).toBe(false)
  })
})
