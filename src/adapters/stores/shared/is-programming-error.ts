/**
 * Returns whether an error is a programming error and not one of the database. Retrying would fail again, so it is never
 * reported as an unavailable store.
 */
export function isProgrammingError(error: unknown): boolean {
  return (
    error instanceof TypeError ||
    error instanceof RangeError ||
    error instanceof ReferenceError ||
    error instanceof SyntaxError
  )
}
