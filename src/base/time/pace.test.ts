/** Bursts of work share the event loop with all other work. */
import { expect, it } from 'vitest'
import { createPace, type Pace } from './pace.ts'

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

/** Records the names of turns in the order in which they are taken. */
function createRecorder(pace: Pace) {
  const order: string[] = []
  const take = async (name: string, rank?: 'first') => {
    await pace.turn(rank)
    order.push(name)
  }
  return { order, take }
}

const nextPass = () => new Promise((resolve) => setImmediate(resolve))

it('lets a burst arrive before it takes turns, and then takes a slice of them', async () => {
  let now = 0
  const pace = createPace(() => now)
  const { order, take } = createRecorder(pace)
  const turns: Promise<void>[] = []
  const counts: number[] = []
  // A connection arrives in every pass, and its request waits for a turn.
  for (let pass = 0; pass < 12; pass++) {
    pace.hurry()
    turns.push(take(`request ${pass}`, 'first'))
    await nextPass()
    counts.push(order.length)
    now += 1
  }
  expect(counts).toEqual([0, 0, 0, 0, 5, 5, 5, 5, 5, 10, 10, 10])
  // No connection arrives any more.
  await nextPass()
  expect(order.length).toBe(12)
  await Promise.all(turns)
})

it('lets connections arrive between two slices, however long they take', async () => {
  let now = 0
  const pace = createPace(() => now)
  const { order, take } = createRecorder(pace)
  pace.hurry()
  const turns = Array.from({ length: 4 }, () => take('request', 'first').then(() => (now += 50)))
  const counts: number[] = []
  for (let pass = 0; pass < 6; pass++) {
    pace.hurry()
    await nextPass()
    counts.push(order.length)
    now += 4
  }
  expect(counts).toEqual([0, 1, 1, 2, 2, 3])
  await Promise.all(turns)
})

it('accepts a burst before it continues what was accepted, unless that has waited too long', async () => {
  let now = 0
  const pace = createPace(() => now)
  const { order, take } = createRecorder(pace)
  pace.hurry()
  const early = [take('step'), take('step')]
  const burst = [take('request', 'first'), take('request', 'first')]
  await nextPass()
  now = 4
  pace.hurry()
  await nextPass()
  // Connections keep arriving: no step is taken, although no request waits.
  expect(order).toEqual(['request', 'request'])
  now = 300
  pace.hurry()
  burst.push(take('request', 'first'), take('request', 'first'))
  await Promise.all([...early, ...burst])
  expect(order.slice(2)).toEqual(['request', 'step', 'request', 'step'])
})

it('gives turns in order, and turns of rank first before all others', async () => {
  const pace = createPace()
  // No turn resolves at once.
  pace.hurry()
  const { order, take } = createRecorder(pace)
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
