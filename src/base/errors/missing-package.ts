/** The error of an optional package that cannot be loaded: says what needs it, and how to install it. */
import { ProvisoError, toErrorMessage } from './error.ts'

interface OptionalPackage {
  readonly name: string
  /** Version or range to install, such as `3`. */
  readonly version: string
  /** Completes "Cannot …", such as `call OpenAI models`. */
  readonly purpose: string
}

/**
 * Returns the error to throw where `import()` of an optional package failed. Keep the `import()` inside a `try` block:
 * bundlers then accept that the package is missing.
 */
export function missingPackage(optional: OptionalPackage, cause: unknown): ProvisoError {
  const { name, version, purpose } = optional
  const code = (cause as { code?: unknown } | undefined)?.code
  const isMissing = code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND'
  const problem = isMissing
    ? `the package ${name} is not installed`
    : `the package ${name} does not load (${toErrorMessage(cause)})`
  return new ProvisoError('option/invalid', `Cannot ${purpose}: ${problem}`, {
    hint: `Run \`npm install ${name}@${version}\``,
    cause,
  })
}
