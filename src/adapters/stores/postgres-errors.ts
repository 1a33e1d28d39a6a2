/** What an error of PostgreSQL means for a transaction: lost on the way, lost a race, or somebody's fault. */
import { isOwnMistake } from './own-mistake.ts'

/** SQLSTATE, or the code of a system error. */
function codeOf(error: unknown): string {
  return String((error as { code?: unknown } | undefined)?.code ?? '')
}

const lostCodes =
  /^(08...|57P0[1-5]|57014|25P03|ECONN(REFUSED|RESET|ABORTED)|EPIPE|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ENOENT|EAI_AGAIN)$/
/** Errors of the driver itself have no code. */
const lostMessages =
  /Connection terminated|connection error and is not queryable|Client was closed|read timeout|timeout exceeded when trying to connect|timeout expired/

/** The connection is gone, or the server gave up: whether the statement took effect is not known. */
export function isLost(error: unknown): boolean {
  return lostCodes.test(codeOf(error)) || (error instanceof Error && lostMessages.test(error.message))
}

/** Nothing was heard in time, not even that it takes too long. */
export function isSilent(error: unknown): boolean {
  return error instanceof Error && /read timeout/.test(error.message)
}

/** The server is there and not ready yet. */
export function isStarting(error: unknown): boolean {
  return codeOf(error) === '57P03'
}

/** A deadlock or a serialization failure: nothing took effect, the next try may. */
export function isRace(error: unknown): boolean {
  return /^40(001|P01)$/.test(codeOf(error))
}

/** The values are to blame, and not the server: data, constraint, limit. */
export function isOnesFault(error: unknown): boolean {
  if (isOwnMistake(error)) return true
  return /^(22|23|54)...$/.test(codeOf((error as { cause?: unknown }).cause))
}
