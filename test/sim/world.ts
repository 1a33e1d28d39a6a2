/**
 * Virtual time and the one queue of everything that is going to happen. Tasks happen one at a time, in the order of their
 * virtual times (chance decides between equals), and after each of them all promises are settled that can be.
 */
import type { Random } from './random.ts'

export interface World {
  readonly now: number
  readonly random: Random
  /** Lets something happen after so many milliseconds; returns the way to take it back. */
  after(ms: number, happen: () => void): () => void
  /** Lets things happen until `done` says so or nothing is left; `false` if virtual time ran out before. */
  run(done: () => boolean, until: number): Promise<boolean>
  /** How many things have happened. */
  readonly steps: number
}

interface Task {
  readonly at: number
  readonly tie: number
  happen: (() => void) | undefined
}

export function createWorld(random: Random, start: number): World {
  const queue: Task[] = []
  let now = start
  let steps = 0

  const run = (done: () => boolean, until: number) =>
    new Promise<boolean>((resolve, reject) => {
      // Promises settle between two immediates, all of them: no other source of events exists in a simulation.
      const next = () => {
        try {
          if (done()) return resolve(true)
          let task = pop(queue)
          while (task !== undefined && task.happen === undefined) task = pop(queue)
          if (task === undefined) return resolve(done())
          if (task.at > until) {
            push(queue, task)
            return resolve(false)
          }
          now = Math.max(now, task.at)
          steps++
          task.happen?.()
          setImmediate(next)
        } catch (cause) {
          reject(cause)
        }
      }
      setImmediate(next)
    })

  return {
    get now() {
      return now
    },
    get steps() {
      return steps
    },
    random,
    after(ms, happen) {
      const task: Task = { at: now + ms, tie: random.next(), happen }
      push(queue, task)
      return () => {
        task.happen = undefined
      }
    },
    run,
  }
}

// A binary heap: the earliest task is at its top.

function before(one: Task, other: Task): boolean {
  return one.at < other.at || (one.at === other.at && one.tie < other.tie)
}

function push(heap: Task[], task: Task): void {
  let at = heap.length
  heap.push(task)
  while (at > 0) {
    const parent = (at - 1) >> 1
    if (!before(task, heap[parent]!)) break
    heap[at] = heap[parent]!
    at = parent
  }
  heap[at] = task
}

function pop(heap: Task[]): Task | undefined {
  const top = heap[0]
  const last = heap.pop()
  if (top === undefined || last === undefined || heap.length === 0) return top
  let at = 0
  for (;;) {
    let child = 2 * at + 1
    if (child >= heap.length) break
    if (child + 1 < heap.length && before(heap[child + 1]!, heap[child]!)) child++
    if (!before(heap[child]!, last)) break
    heap[at] = heap[child]!
    at = child
  }
  heap[at] = last
  return top
}
