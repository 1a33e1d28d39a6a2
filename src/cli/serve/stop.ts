/** Ends a serving process: gracefully on the first signal, at once on the second or on an unexpected error. */
import { exitCode } from '../exit-codes.ts'
import { onInterrupt } from '../interrupt.ts'
import { printNote } from '../print.ts'

/** Resolves on the first SIGTERM or Ctrl-C; the next one, of either kind, exits at once. */
export function waitForStopSignal(): Promise<'SIGTERM' | 'SIGINT'> {
  return new Promise((resolve) => {
    let isStopping = false
    const onSignal = (signal: 'SIGTERM' | 'SIGINT') => {
      if (isStopping) process.exit(exitCode('interrupted'))
      isStopping = true
      resolve(signal)
    }
    process.on('SIGTERM', () => onSignal('SIGTERM'))
    onInterrupt(() => onSignal('SIGINT'))
  })
}

/**
 * Crash-only design: after an unexpected error the state of the process is unknown. Exiting is safe, because everything
 * acknowledged is in the store and every run is claimed again.
 */
export function exitOnUnexpectedError(): void {
  const leave = (what: string) => (cause: unknown) => {
    printNote(`${what}: ${cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)}`)
    process.exit(exitCode('internal'))
  }
  process.on('uncaughtException', leave('Uncaught exception'))
  process.on('unhandledRejection', leave('Unhandled rejection'))
}
