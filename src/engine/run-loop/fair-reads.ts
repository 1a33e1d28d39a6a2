/**
 * Reads the journals of claimed runs, so many at once, and the tenants in turn (round robin): after a restart a process
 * claims hundreds of runs of one tenant at once, and a run of another tenant does not wait until all of these are read.
 */
import type { Clock } from '../../base/time/clock.ts'

export interface FairReads {
  read<T>(tenant: string, read: () => Promise<T>): Promise<T>
}

const defaultMost = 16
/** A read that the store has not answered for this time does not count: the others must not wait for it. */
const longestMs = 1_000

export function createFairReads(clock: Clock, most = defaultMost): FairReads {
  /** The reads in line by tenant. The order of the map is the order of turns. */
  const lines = new Map<string, (() => void)[]>()
  /** The reads that count, with the time at which each began. */
  const active = new Map<object, number>()
  let isWatching = false

  const startNext = () => {
    for (const [tenant, line] of lines) {
      if (active.size >= most) return
      const start = line.shift()
      lines.delete(tenant)
      if (line.length > 0) lines.set(tenant, line)
      start?.()
    }
  }
  const begin = <T>(read: () => Promise<T>): Promise<T> => {
    const reading = read()
    active.set(reading, clock.now())
    const end = () => {
      if (active.delete(reading)) startNext()
    }
    reading.then(end, end)
    return reading
  }
  const watch = () => {
    if (isWatching || lines.size === 0) return
    isWatching = true
    clock.timer(clock.now() + longestMs, () => {
      isWatching = false
      for (const [reading, at] of active) if (at <= clock.now() - longestMs) active.delete(reading)
      startNext()
      watch()
    })
  }
  return {
    read(tenant, read) {
      if (active.size < most) return begin(read)
      return new Promise((resolve, reject) => {
        const start = () => void begin(read).then(resolve, reject)
        const line = lines.get(tenant)
        if (line) line.push(start)
        else lines.set(tenant, [start])
        watch()
      })
    },
  }
}
