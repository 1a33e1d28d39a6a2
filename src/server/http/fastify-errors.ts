/** Maps errors that fastify and Node raise before a route is reached to problem responses. */

import { randomBytes } from 'node:crypto'
import type { Socket } from 'node:net'
import type { Redactor } from '../../domain/redaction/redact.ts'
import { problemType, type Refusal, refusal, toProblem, toRefusal } from '../problem.ts'

const unreadableCode = 'PROVISO_UNREADABLE'

/** Creates an error that fastify passes to its error handler. */
export function unreadable(message: string): Error {
  return Object.assign(new Error(message), { code: unreadableCode })
}

/** Converts fastify's errors to refusals; any other error is one of our own, or a bug. */
export function fromFastify(error: Error & { readonly code?: string }, bodyLimit: number): Refusal {
  switch (error.code) {
    case unreadableCode:
      return refusal('request/unreadable', error.message, {
        hint: 'Send plain JSON in UTF-8',
        issues: [{ code: 'request/json', at: { pointer: '' }, message: error.message }],
      })
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return refusal('request/too-large', `The body must have at most ${bodyLimit} bytes`, {
        hint: 'Send a smaller body, or ask the operator to raise `limits.bodyBytes`',
        headers: { connection: 'close' },
      })
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return refusal('request/media-type', 'The content type of the body must be application/json', {
        hint: 'Send the header "Content-Type: application/json"',
        headers: { connection: 'close' },
      })
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return refusal('request/unreadable', 'The body length does not match Content-Length', {
        hint: 'Send as many bytes as Content-Length declares, or omit the header',
      })
    case 'FST_ERR_BAD_URL':
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return refusal('request/unreadable', 'Cannot decode the path', {
        hint: 'Percent-encode each path segment and keep it below 500 characters',
      })
    default:
      return toRefusal(error)
  }
}

/** Answers connections that send malformed HTTP, oversized headers or incomplete requests. */
export function answerMalformed(error: Error & { code?: string }, socket: Socket, redactor: Redactor): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return
  const late = error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
  const refused = late
    ? refusal('request/timeout', 'The request took too long to arrive')
    : refusal('request/unreadable', 'Cannot parse the HTTP request, or its headers are larger than 16 KiB')
  const body = JSON.stringify(toProblem(refused, readTraceId(undefined), redactor))
  const lines = [
    `HTTP/1.1 ${late ? '408 Request Timeout' : '400 Bad Request'}`,
    `content-type: ${problemType}`,
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
    '',
    body,
  ]
  if (socket.writable) socket.write(lines.join('\r\n'))
  socket.destroy(error)
}

// Reads the trace id of a call from W3C Trace Context.

/** Returns the trace id in `traceparent`, or a new one if it is absent or invalid. */
export function readTraceId(traceparent: string | undefined): string {
  const [, given] = /^[\da-f]{2}-([\da-f]{32})-[\da-f]{16}-[\da-f]{2}/.exec(traceparent ?? '') ?? []
  if (given !== undefined && !/^0+$/.test(given)) return given
  return randomBytes(16).toString('hex')
}
