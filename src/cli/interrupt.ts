/** Ctrl-C: what is going on may end in order the first time; the second time, and otherwise, the command is over at once. */
import { exitCode } from './exit-codes.ts'

const waiting: (() => void)[] = []

export function listenForInterrupts(): void {
  process.on('SIGINT', () => {
    const end = waiting.pop()
    if (end) end()
    else process.exit(exitCode('interrupted'))
  })
}

/** Calls back on the first Ctrl-C instead of leaving; returns the way to take it back. */
export function onInterrupt(end: () => void): () => void {
  waiting.push(end)
  return () => {
    const at = waiting.indexOf(end)
    if (at >= 0) waiting.splice(at, 1)
  }
}
