import { describe, expect, it } from 'vitest'
import { systemClock } from '../../base/time/clock.ts'
import { createFairReads } from './fair-reads.ts'

/** Reads that end when the test ends them. */
function createReads(most: number, now = { at: 0 }) {
  const begun: string[] = []
  const ends = new Map<string, () => void>()
  const timers: (() => void)[] = []
  const clock = {
    ...systemClock,
    now: () => now.at,
    timer: (_: number, act: () => void) => {
      timers.push(act)
      return () => {}
    },
  }
  const { read } = createFairReads(clock, most)
  return {
    begun,
    timers,
    request(tenant: string, name: string) {
      return read(tenant, () => {
        begun.push(name)
        return new Promise<string>((resolve) => ends.set(name, () => resolve(name)))
      })
    },
    async end(name: string) {
      ends.get(name)?.()
      await new Promise((resolve) => setImmediate(resolve))
    },
  }
}

describe('reads of claimed runs', () => {
  it('of a tenant with one come after one of a tenant with hundreds', async () => {
    const { request, end, begun } = createReads(2)
    const many = Array.from({ length: 300 }, (_, nth) => request('a', `a${nth}`))
    const one = request('b', 'b')
    expect(begun).toEqual(['a0', 'a1'])
    await end('a0')
    await end('a1')
    expect(begun).toEqual(['a0', 'a1', 'a2', 'b'])
    await end('b')
    expect(await one).toBe('b')
    expect(await many[0]).toBe('a0')
    expect(begun.at(-1)).toBe('a3')
  })

  it('do not wait for reads that the store does not answer', async () => {
    const now = { at: 0 }
    const { request, timers, begun } = createReads(2, now)
    for (const name of ['a0', 'a1', 'a2', 'a3', 'a4']) void request('a', name)
    now.at = 1_000
    timers.shift()?.()
    expect(begun).toEqual(['a0', 'a1', 'a2', 'a3'])
  })
})
