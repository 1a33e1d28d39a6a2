/** Answers the questions of the process that measures a server: its address, its lag and processor time, its memory. */
import { monitorEventLoopDelay } from 'node:perf_hooks'

/** `describe` adds to the answer about memory. */
export function answerQuestions(url, describe) {
  let lag = monitorEventLoopDelay({ resolution: 5 })
  let processor = process.cpuUsage()
  const questions = {
    begin() {
      lag = monitorEventLoopDelay({ resolution: 5 })
      lag.enable()
      processor = process.cpuUsage()
    },
    /** In milliseconds; what the timer of the measurement itself waits is taken off the lag. */
    end() {
      lag.disable()
      const { user, system } = process.cpuUsage(processor)
      const of = (percentile) => Math.max(lag.percentile(percentile) / 1e6 - 5, 0)
      return { lag: { p50: of(50), p99: of(99) }, processorMs: (user + system) / 1_000 }
    },
    memory() {
      globalThis.gc?.()
      const { heapUsed, external, rss } = process.memoryUsage()
      return { held: heapUsed + external, resident: rss, ...describe() }
    },
  }
  process.on('message', (question) => process.send({ question, answer: questions[question]() ?? null }))
  // The parent is gone, or wants no more.
  process.on('disconnect', () => process.exit())
  process.send({ question: 'url', answer: url })
}
