/** Handles Ctrl-C: the first one calls the registered handler for a graceful end; the next one, or one without a handler, exits at once. */
import { exitCode } from './exit-codes.ts'

const waiting: (() => void)[] = []

export function listenForInterrupts(): void {
  process.on('SIGINT', () => {
    const end = waiting.pop()
    if (end) end()
    else process.exit(exitCode('interrupted'))
  })
}

/** Registers a handler for the next Ctrl-C instead of exiting; returns a function that unregisters it. */
export function onInterrupt(end: () => void): () => void {
  waiting.push(end)
  return () => {
    const at = waiting.indexOf(end)
    if (at >= 0) waiting.splice(at, 1)
  }
}
