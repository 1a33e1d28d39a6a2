/**
 * Errors of this code and not of a database. They would come again with every try, so they are never told as a store that is
 * not there for a while.
 */
export function isOwnMistake(error: unknown): boolean {
  return (
    error instanceof TypeError ||
    error instanceof RangeError ||
    error instanceof ReferenceError ||
    error instanceof SyntaxError
  )
}
