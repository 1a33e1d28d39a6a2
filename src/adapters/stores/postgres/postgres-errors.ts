/** Classifies PostgreSQL errors: connection lost, conflict, or invalid data. */
import { isProgrammingError } from '../shared/is-programming-error.ts'

/** SQLSTATE, or the code of a system error. */
function codeOf(error: unknown): string {
  return String((error as { code?: unknown } | undefined)?.code ?? '')
}

const lostCodes =
  /^(08...|57P0[1-5]|57014|25P03|ECONN(REFUSED|RESET|ABORTED)|EPIPE|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ENOENT|EAI_AGAIN)$/
/** Errors of the driver itself have no code. */
const lostMessages =
  /Connection terminated|connection error and is not queryable|Client was closed|read timeout|timeout exceeded when trying to connect|timeout expired/

/** The connection is lost: it is unknown whether the statement took effect. */
export function isLost(error: unknown): boolean {
  return lostCodes.test(codeOf(error)) || (error instanceof Error && lostMessages.test(error.message))
}

/** The server did not answer in time. */
export function isSilent(error: unknown): boolean {
  return error instanceof Error && /read timeout/.test(error.message)
}

/** The server is starting up. */
export function isStarting(error: unknown): boolean {
  return codeOf(error) === '57P03'
}

/** A deadlock or a serialization failure: nothing took effect, a retry may succeed. */
export function isRace(error: unknown): boolean {
  return /^40(001|P01)$/.test(codeOf(error))
}

/** The values are at fault, not the server: data, constraint, limit. */
export function isOnesFault(error: unknown): boolean {
  if (isProgrammingError(error)) return true
  return /^(22|23|54)...$/.test(codeOf((error as { cause?: unknown }).cause))
}
