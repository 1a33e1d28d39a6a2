/**
 * Measures how late the event loop is. `least` is the least lag of the last second (as in CoDel): a single long task
 * raises one sample only, but a loop that is behind all the time raises every one.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks'

export interface LoopLag {
  /** Least lag of the last second, in milliseconds. */
  least(): number
  /** Percentiles since the last call, in milliseconds. */
  percentiles(): { readonly p50: number; readonly p99: number; readonly max: number }
  stop(): void
}

const sampleMs = 100
const samples = 10
const nanoseconds = 1e6

export function createLoopLag(now: () => number = () => performance.now()): LoopLag {
  const recent: number[] = []
  const delay = monitorEventLoopDelay({ resolution: 10 })
  delay.enable()
  let due = now() + sampleMs
  const timer = setInterval(() => {
    const at = now()
    recent.push(Math.max(0, at - due))
    if (recent.length > samples) recent.shift()
    due = at + sampleMs
  }, sampleMs)
  timer.unref()
  return {
    least: () => (recent.length < samples ? 0 : Math.min(...recent)),
    percentiles() {
      const [p50, p99, max] = [delay.percentile(50), delay.percentile(99), delay.max].map((value) =>
        Math.max(0, value / nanoseconds - 10),
      ) as [number, number, number]
      delay.reset()
      return { p50, p99, max }
    },
    stop() {
      clearInterval(timer)
      delay.disable()
    },
  }
}
