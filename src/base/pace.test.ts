/** Bursts of work share the event loop with everything else. */
import { expect, it } from 'vitest'
import { createPace } from './pace.ts'

/** A pace whose time passes only in turns: each takes so long. */
async function passesOf(turns: number, turnMs: number): Promise<number[]> {
  let now = 0
  let pass = 0
  let over = false
  const count = () => {
    pass++
    if (!over) setImmediate(count)
  }
  const pace = createPace(() => now)
  setImmediate(count)
  const passes = await Promise.all(
    Array.from({ length: turns }, async () => {
      await pace.turn()
      now += turnMs
      return pass
    }),
  )
  over = true
  return passes
}

const most = (passes: readonly number[]) =>
  Math.max(...passes.map((pass) => passes.filter((other) => other === pass).length))

it('ends a pass of the loop after some milliseconds, however many wait', async () => {
  expect(most(await passesOf(20, 3))).toBe(2)
  expect(most(await passesOf(20, 50))).toBe(1)
})

it('takes many short turns in one pass, and not all of them', async () => {
  const passes = await passesOf(100, 0)
  expect(most(passes)).toBe(32)
  expect(new Set(passes).size).toBeLessThan(10)
})

it('takes one turn in a pass in which it has to hurry', async () => {
  const pace = createPace(() => 0)
  let begun = 0
  const turns = Array.from({ length: 3 }, async () => {
    await pace.turn()
    begun++
  })
  pace.hurry()
  await new Promise((resolve) => setImmediate(resolve))
  expect(begun).toBe(1)
  await Promise.all(turns)
})

it('gives turns in order, and those who must be first before all others', async () => {
  const pace = createPace()
  const order: string[] = []
  const take = async (name: string, rank?: 'first') => {
    await pace.turn(rank)
    order.push(name)
  }
  await Promise.all([take('a'), take('b'), take('c', 'first'), take('d', 'first')])
  expect(order).toEqual(['c', 'd', 'a', 'b'])
})

it('finishes what one turn begins before the next turn', async () => {
  const pace = createPace()
  const order: string[] = []
  const take = async (name: string) => {
    await pace.turn()
    order.push(`${name} begins`)
    for (let step = 0; step < 10; step++) await undefined
    order.push(`${name} ends`)
  }
  await Promise.all([take('a'), take('b')])
  expect(order).toEqual(['a begins', 'a ends', 'b begins', 'b ends'])
})
