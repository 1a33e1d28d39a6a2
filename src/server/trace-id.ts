/** The trace that a call belongs to, by W3C Trace Context. */
import { randomBytes } from 'node:crypto'

/** From `traceparent`; a new one where there is none, or one that is no trace. */
export function traceIdOf(traceparent: string | undefined): string {
  const [, given] = /^[\da-f]{2}-([\da-f]{32})-[\da-f]{16}-[\da-f]{2}/.exec(traceparent ?? '') ?? []
  if (given !== undefined && !/^0+$/.test(given)) return given
  return randomBytes(16).toString('hex')
}
