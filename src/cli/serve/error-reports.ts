/**
 * Reports the errors of requests to the operator, as JSON lines if the log is on. A refusal that is expected (the store does
 * not answer, the server stops) has one line without a stack, and repeats are counted instead of printed.
 */
import { ProvisoError } from '../../base/errors/error.ts'
import { type Clock, systemClock } from '../../base/time/clock.ts'
import { errorStatus, type ServerOptions } from '../../server/index.ts'
import { createLog, type LogOptions } from '../../server/telemetry/telemetry.ts'
import { colors, printNote } from '../print.ts'

interface ErrorReport {
  readonly route: string
  readonly traceId: string
  /** Code of an error of this package. */
  readonly code: string | undefined
  readonly message: string
  /** Absent for expected refusals. */
  readonly stack: string | undefined
  /** How many errors of the same kind were left out before this one. */
  readonly leftOut: number
}

interface ErrorReports {
  readonly report: NonNullable<ServerOptions['onError']>
  /** Prints what was left out so far, and ends the timers. */
  close(): void
}

/** Errors of the same kind are printed once in this time. */
const windowMs = 10_000
/** Beyond it, errors count as one kind. */
const mostKinds = 100

interface Kind {
  /** The last error that was left out. */
  last: Omit<ErrorReport, 'leftOut'> | undefined
  leftOut: number
  cancelTimer: () => void
}

export function createErrorReports(
  print: (report: ErrorReport) => void,
  clock: Pick<Clock, 'now' | 'timer'> = systemClock,
): ErrorReports {
  const kinds = new Map<string, Kind>()
  const printLeftOut = (kind: Kind) => {
    const { last, leftOut } = kind
    if (last === undefined) return false
    Object.assign(kind, { last: undefined, leftOut: 0 })
    // The last one is printed, the others are counted.
    print({ ...last, leftOut: leftOut - 1 })
    return true
  }
  const openWindow = (name: string, kind: Kind) => {
    kind.cancelTimer = clock.timer(clock.now() + windowMs, () => {
      if (printLeftOut(kind)) openWindow(name, kind)
      else kinds.delete(name)
    })
  }
  return {
    report(cause, at) {
      const error = { ...at, ...describe(cause) }
      const name = nameKind(cause)
      const key = kinds.has(name) || kinds.size < mostKinds ? name : ''
      const known = kinds.get(key)
      if (known) {
        known.last = error
        known.leftOut++
        return
      }
      const kind: Kind = { last: undefined, leftOut: 0, cancelTimer: () => {} }
      kinds.set(key, kind)
      openWindow(key, kind)
      print({ ...error, leftOut: 0 })
    },
    close() {
      for (const kind of kinds.values()) {
        kind.cancelTimer()
        printLeftOut(kind)
      }
      kinds.clear()
    },
  }
}

function describe(cause: unknown): Pick<ErrorReport, 'code' | 'message' | 'stack'> {
  if (ProvisoError.is(cause)) {
    const { code, message, stack } = cause
    const isExpected = errorStatus[code]?.status === 503
    return { code, message, stack: isExpected ? undefined : stack }
  }
  if (cause instanceof Error) return { code: undefined, message: cause.message, stack: cause.stack }
  return { code: undefined, message: String(cause), stack: undefined }
}

/** By code, else by the place where it was thrown: messages contain ids. */
function nameKind(cause: unknown): string {
  if (ProvisoError.is(cause)) return cause.code
  if (!(cause instanceof Error)) return String(cause).slice(0, 200)
  const [, frame = cause.message] = cause.stack?.split(/\n\s+at /) ?? []
  return `${cause.name} ${frame}`.slice(0, 200)
}

/** Prints for a person who reads along. */
export function printError({ route, traceId, code, message, stack, leftOut }: ErrorReport): void {
  const text = stack ?? (code === undefined ? message : `${code}: ${message}`)
  const others = leftOut === 0 ? '' : ` (and ${leftOut} more like it)`
  const [first = '', ...rest] = text.split('\n')
  printNote([`${colors.red('error')} ${route} ${traceId}: ${first}${others}`, ...rest].join('\n'))
}

/** Writes JSON lines beside those of runs. */
export function logErrors(options: LogOptions): (report: ErrorReport) => void {
  const { logger } = createLog(options)
  return ({ leftOut, ...error }) => {
    const level = error.stack === undefined ? 'warn' : 'error'
    logger[level]({ ...error, ...(leftOut > 0 && { leftOut }) }, 'flex_request_failed')
  }
}
