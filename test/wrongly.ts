/** Passes a value where its type is refused: for tests of what JavaScript and JSON from outside may bring. */
export function wrongly(value: unknown): never {
  return value as never
}
