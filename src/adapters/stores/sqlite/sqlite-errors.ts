/** Errors of SQLite as errors of the store: damage, missing rights, and what passes by itself. */
import { ProvisoError, toErrorMessage } from '../../../base/errors/error.ts'

/** Returns the result code of SQLite, or of the system; empty if there is none. */
export function getCode(error: unknown): string {
  return String((error as { code?: unknown } | undefined)?.code ?? '')
}

/** An error of a statement, or of opening the file. */
export function toStoreError(path: string, cause: unknown): ProvisoError {
  const message = toErrorMessage(cause)
  if (isDamage(cause))
    return new ProvisoError(
      'store/corrupt',
      `Cannot use SQLite at ${path}: the file is damaged (${message})`,
      {
        cause,
      },
    )
  const problem = `Cannot use SQLite at ${path}: ${message}`
  if (isAccess(cause))
    return new ProvisoError('store/unavailable', problem, {
      hint: `Check that ${path} and its folder exist, and that this account may read and write both`,
      cause,
    })
  return new ProvisoError('store/unavailable', problem, { cause })
}

/** Remembers the first damage that a statement has found: other pages may still be readable. */
export function rememberDamage(path: string) {
  let damage: ProvisoError | undefined
  return {
    toError(cause: unknown): ProvisoError {
      const error = toStoreError(path, cause)
      if (error.code === 'store/corrupt') damage ??= error
      return error
    },
    assertIntact(): void {
      if (damage) throw damage
    },
  }
}

/** An error that may be one of the store already: a migration that fails hides the damage behind its own. */
export function toOpenError(path: string, error: unknown): ProvisoError {
  if (!(error instanceof ProvisoError)) return toStoreError(path, error)
  return error.code === 'store/unavailable' && isDamage(error.cause) ? toStoreError(path, error.cause) : error
}

/** Statements inside of a migration fail with an error around that of SQLite. */
function isDamage(cause: unknown): boolean {
  return (
    /^SQLITE_(CORRUPT|NOTADB)/.test(getCode(cause)) ||
    /file is not a database|disk image is malformed|malformed database schema/.test(toErrorMessage(cause))
  )
}

/** The default driver names the code 14 in its message only when it cannot open a file. */
function isAccess(cause: unknown): boolean {
  return (
    /^(SQLITE_(CANTOPEN|PERM|READONLY|AUTH)|EACCES|EPERM|EROFS|ENOENT)/.test(getCode(cause)) ||
    /unable to open (connection to local )?database/i.test(toErrorMessage(cause))
  )
}
