/** What was thrown, in words. Anything can be thrown, and telling of it must not throw again. */
export function messageOf(cause: unknown): string {
  try {
    return String(cause instanceof Error ? cause.message : cause)
  } catch {
    return 'What was thrown cannot be put into words'
  }
}
