/** What fastify and Node refuse before a route is reached, in our words. */
import type { Socket } from 'node:net'
import type { Redactor } from '../domain/redact.ts'
import { problemOf, problemType, type Refusal, refusal, refusalOf } from './problem.ts'
import { traceIdOf } from './trace-id.ts'

const unreadableCode = 'PROVISO_UNREADABLE'

/** An error that fastify carries to its handler of errors. */
export function unreadable(message: string): Error {
  return Object.assign(new Error(message), { code: unreadableCode })
}

/** What fastify refuses, in our words; everything else is one of our own errors, or a bug. */
export function ofFastify(error: Error & { readonly code?: string }, bodyLimit: number): Refusal {
  switch (error.code) {
    case unreadableCode:
      return refusal('request/unreadable', error.message, {
        hint: 'Send plain JSON in UTF-8',
        issues: [{ code: 'request/json', at: { pointer: '' }, message: error.message }],
      })
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return refusal('request/too-large', `The body is larger than ${bodyLimit} bytes, the limit here`, {
        hint: 'Send less, or ask the operator for a higher limit',
        headers: { connection: 'close' },
      })
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return refusal('request/media-type', 'A body must come as application/json', {
        hint: 'Send the header "Content-Type: application/json"',
        headers: { connection: 'close' },
      })
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return refusal('request/unreadable', 'The body does not have the length that Content-Length says', {
        hint: 'Send as many bytes as Content-Length says, or leave the header out',
      })
    case 'FST_ERR_BAD_URL':
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return refusal('request/unreadable', 'The path cannot be read', {
        hint: 'Encode the parts of the path, each at most 500 characters long',
      })
    default:
      return refusalOf(error)
  }
}

/** Bytes that are no HTTP, headers that are too long, requests that never end. */
export function answerNoise(error: Error & { code?: string }, socket: Socket, redactor: Redactor): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return
  const late = error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
  const refused = late
    ? refusal('request/timeout', 'The request took too long to arrive')
    : refusal('request/unreadable', 'This is no HTTP request, or its headers are larger than 16 KiB')
  const body = JSON.stringify(problemOf(refused, traceIdOf(undefined), redactor))
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
