/**
 * The only error class of the package, and the table of its codes. It is thrown for programming and configuration errors
 * (an unusable schema, an invalid option); invalid text and invalid values are never thrown, they are reported as Issues.
 */
import { errorTable } from './error-table.ts'
import type { Issue, Location } from './issue.ts'
import type { Fate } from './reader-errors.ts'

export { errorTable, type Fate }

export type ErrorCode = keyof typeof errorTable

interface ErrorDetails {
  /** What to do about it; defaults to the hint of the table. */
  readonly hint?: string
  readonly at?: Location
  /** All problems, if there are several. */
  readonly issues?: readonly Issue[]
  readonly cause?: unknown
}

/** Shared by all copies of the class: `proviso` and `@proviso/reader`, as ESM and as CommonJS, may be loaded together. */
const brand = Symbol.for('proviso.error')

export class ProvisoError extends Error {
  override readonly name = 'ProvisoError'
  readonly code: ErrorCode
  readonly hint: string
  readonly at?: Location
  readonly issues?: readonly Issue[]

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.code = code
    this.hint = details.hint ?? errorTable[code].hint
    if (details.at !== undefined) this.at = details.at
    if (details.issues !== undefined) this.issues = details.issues
  }

  static {
    Object.defineProperty(ProvisoError.prototype, brand, { value: true })
  }

  /**
   * Whether a caught value is an error of this package, including errors of another installed copy: checks a marker, not
   * the class.
   *
   * @example
   * try {
   *   await app.run(envelope)
   * } catch (cause) {
   *   if (ProvisoError.is(cause)) console.error(cause.code, cause.hint)
   * }
   */
  static is(value: unknown): value is ProvisoError {
    return typeof value === 'object' && value !== null && brand in value
  }

  /** `instanceof` accepts the same errors as `is`. */
  static override [Symbol.hasInstance](value: unknown): value is ProvisoError {
    return ProvisoError.is(value)
  }

  get fate(): Fate {
    return errorTable[this.code].fate
  }

  get exitCode(): number {
    return errorTable[this.code].exitCode
  }
}

/** Converts a thrown value to text. Never throws, although anything can be thrown. */
export function toErrorMessage(cause: unknown): string {
  try {
    return String(cause instanceof Error ? cause.message : cause)
  } catch {
    return 'Cannot convert the thrown value to text'
  }
}
