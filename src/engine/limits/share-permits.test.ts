import { describe, expect, it } from 'vitest'
import { type Need, type Shared, sharePermits } from './share-permits.ts'

const need = (owner: string, inUse: number, waiting: number, more: Partial<Need> = {}): Need => ({
  ...{ owner, inUse, waiting, waitingForRate: waiting, leaseMs: 1_000, now: 0 },
  ...more,
})

/** Processes that ask in turn, as often as given. */
function play(limit: number, asked: Record<string, number>, rounds: number) {
  let shared: Shared | undefined
  const held: Record<string, number> = {}
  for (let round = 0; round < rounds; round++)
    for (const [owner, wanted] of Object.entries(asked)) {
      // Nothing is in use: all that a process held has ended.
      const share = sharePermits(shared, { concurrency: limit }, need(owner, 0, wanted))
      shared = share.shared
      held[owner] = share.held
      expect(Object.values(shared.holders).reduce((sum, each) => sum + each.held, 0)).toBeLessThanOrEqual(
        limit,
      )
    }
  return held
}

describe('permits', () => {
  it('go to each process as it asks while there are enough', () => {
    expect(play(10, { a: 3, b: 5 }, 3)).toEqual({ a: 3, b: 5 })
  })

  it('are shared alike when there are not enough, and what one does not want goes to the others', () => {
    expect(play(10, { a: 100, b: 100 }, 3)).toEqual({ a: 5, b: 5 })
    expect(play(10, { a: 100, b: 2, c: 100 }, 4)).toEqual({ a: 4, b: 2, c: 4 })
  })

  it('go round if there are fewer than processes', () => {
    let shared: Shared | undefined
    const got: string[] = []
    for (let round = 0; round < 9; round++)
      for (const owner of ['a', 'b', 'c']) {
        const share = sharePermits(shared, { concurrency: 1 }, need(owner, 0, 5))
        shared = share.shared
        if (share.held === 1) got.push(owner)
      }
    for (const owner of ['a', 'b', 'c'])
      expect(got.filter((each) => each === owner).length).toBeGreaterThan(1)
  })

  it('are kept by attempts under way, also when the limit was lowered', () => {
    const { shared } = sharePermits(undefined, { concurrency: 4 }, need('a', 0, 4))
    expect(sharePermits(shared, { concurrency: 2 }, need('a', 4, 0)).held).toBe(4)
    expect(sharePermits(shared, { concurrency: 2 }, need('b', 0, 4)).held).toBe(0)
  })

  it('of a dead process return when its lease ends', () => {
    const { shared } = sharePermits(undefined, { concurrency: 2 }, need('dead', 0, 2))
    const ask = (now: number) => sharePermits(shared, { concurrency: 2 }, need('b', 0, 2, { now })).held
    expect([ask(999), ask(1_001)]).toEqual([0, 2])
  })

  it('of a rate are given once, and come back with time', () => {
    const rule = { rate: { count: 10, perMs: 1_000 } }
    const first = sharePermits(undefined, rule, need('a', 0, 7))
    const second = sharePermits(first.shared, rule, need('b', 0, 7))
    const third = sharePermits(second.shared, rule, need('b', 0, 7, { now: 250 }))
    expect([first.tokens, second.tokens, third.tokens]).toEqual([7, 3, 2])
    const later = sharePermits(third.shared, rule, need('b', 0, 99, { now: 3_600_000 }))
    expect(later.tokens).toBe(10)
  })
})
