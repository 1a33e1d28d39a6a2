/**
 * `fetch` for calls of models. A key goes to the server it was given for: redirects are not followed, because `fetch` takes
 * headers such as `x-api-key` along. And an answer without end is cut off, before it fills the memory.
 */

/** Far above the longest answers of models, with the framing of a stream around every token. */
const longestAnswerBytes = 32 * 1024 * 1024

class AnswerTooLong extends Error {
  readonly code = 'PROVISO_ANSWER_LIMIT'

  constructor() {
    super(`The answer must have at most ${longestAnswerBytes} bytes`)
  }
}

export function safeFetch(fetch?: typeof globalThis.fetch): typeof globalThis.fetch {
  return async (input, init) => {
    const response = await (fetch ?? globalThis.fetch)(input, { ...init, redirect: 'manual' })
    const { body, status, statusText, headers } = response
    if (body === null || status === 0) return response
    return new Response(body.pipeThrough(limiter()), { status, statusText, headers })
  }
}

function limiter(): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0
  return new TransformStream({
    transform(chunk, controller) {
      bytes += chunk.byteLength
      if (bytes > longestAnswerBytes) controller.error(new AnswerTooLong())
      else controller.enqueue(chunk)
    },
  })
}
