/**
 * One life of a process, from its start to its crash. What is on its way to a process that has died never arrives; what
 * is on its way to one that sleeps (a stalled event loop, a suspended machine) arrives when it wakes.
 */
import type { Clock } from '../../src/base/time/clock.ts'
import type { World } from './world.ts'

export interface Life {
  readonly process: string
  readonly nth: number
  alive: boolean
  /** It was asked to end, and takes no requests. */
  retiring: boolean
  asleepUntil: number
  /** How far its clock is ahead of the store's. */
  readonly skewMs: number
}

/** Lets something happen in this life after so many milliseconds, if it still lives then. */
export function deliver(world: World, life: Life, ms: number, happen: () => void): () => void {
  let takeBack = () => {}
  const arrive = () => {
    if (!life.alive) return
    const late = life.asleepUntil - world.now
    if (late <= 0) return happen()
    takeBack = world.after(late + world.random.int(20), arrive)
  }
  takeBack = world.after(ms, arrive)
  return () => takeBack()
}

/** The clock that a process sees. Its timers come a little late, as timers do. */
export function createLifeClock(world: World, life: Life): Clock {
  return {
    now: () => world.now + life.skewMs,
    timer: (at, callback) =>
      deliver(
        world,
        life,
        Math.max(at - (world.now + life.skewMs), 0) + (world.random.chance(0.2) ? world.random.int(5) : 0),
        callback,
      ),
  }
}
