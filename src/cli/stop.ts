/** How a process that serves ends: in order when it is told to, at once when it is told twice or when nobody knows why. */
import { exitCode } from './exit-codes.ts'
import { onInterrupt } from './interrupt.ts'
import { printNote } from './print.ts'

/** Resolves with the first SIGTERM or Ctrl-C; the next one, of either kind, leaves at once. */
export function untilToldToStop(): Promise<'SIGTERM' | 'SIGINT'> {
  return new Promise((resolve) => {
    let told = false
    const tell = (signal: 'SIGTERM' | 'SIGINT') => {
      if (told) process.exit(exitCode('interrupted'))
      told = true
      resolve(signal)
    }
    process.on('SIGTERM', () => tell('SIGTERM'))
    onInterrupt(() => tell('SIGINT'))
  })
}

/**
 * Crash-only: after an error that nobody foresaw the process cannot be trusted, and ending it is safe, because everything
 * that was acknowledged is in the store and every run is taken up again.
 */
export function exitOnAnythingUnforeseen(): void {
  const leave = (what: string) => (cause: unknown) => {
    printNote(`${what}: ${cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)}`)
    process.exit(exitCode('internal'))
  }
  process.on('uncaughtException', leave('Uncaught exception'))
  process.on('unhandledRejection', leave('Unhandled rejection'))
}
