/** Bursts of work share the event loop with all other work. */
import { expect, it } from 'vitest'
import { createPace } from './pace.ts'

/** A pace with a fake clock: each turn takes the given time. */
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

/** Turns per pass, in order. */
const counts = (passes: readonly number[]) =>
  [...new Set(passes)].map((pass) => passes.filter((other) => other === pass).length)

it('resolves a few turns at once, then ends each pass of the loop after some milliseconds, however many wait', async () => {
  expect(counts(await passesOf(14, 3))).toEqual([8, 2, 2, 2])
  expect(counts(await passesOf(11, 50))).toEqual([8, 1, 1, 1])
})

it('takes many short turns in one pass, and not all of them', async () => {
  expect(counts(await passesOf(100, 0))).toEqual([8, 32, 32, 28])
})

it('resolves no turn at once after work has used up the time of the pass', async () => {
  let now = 0
  const pace = createPace(() => now)
  await pace.turn()
  now += 5
  let begun = false
  const late = pace.turn().then(() => {
    begun = true
  })
  for (let step = 0; step < 10; step++) await undefined
  expect(begun).toBe(false)
  await late
})

it('takes one turn in a pass in which it has to hurry', async () => {
  const pace = createPace(() => 0)
  let begun = 0
  pace.hurry()
  const turns = Array.from({ length: 3 }, async () => {
    await pace.turn()
    begun++
  })
  await new Promise((resolve) => setImmediate(resolve))
  expect(begun).toBe(1)
  await Promise.all(turns)
})

it('gives turns in order, and turns of rank first before all others', async () => {
  const pace = createPace()
  // No turn resolves at once.
  pace.hurry()
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
  pace.hurry()
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
