/** Answers the calls of a Proviso server: verifies the signature, then answers at once, as a stream, or with 202 and a callback. */
import { isObject } from '../base/json.ts'
import { systemClock } from '../base/time/clock.ts'
import { pause } from '../base/time/retry.ts'
import { signatureHeaders, verify, windowSeconds } from '../domain/capability/call-signature.ts'
import type { CallAnswer, CallBody } from './call.ts'
import type { RunningCall, RunningCalls } from './running-calls.ts'

interface AnswerOptions {
  readonly capabilityId: string
  readonly signingKey: () => string | undefined
  readonly calls: RunningCalls
  /** Time after which a call is answered with 202, and its result by callback. */
  readonly callbackAfterMs: number
  /** Largest body of a call. */
  readonly maxBytes: number
}

/** Returns the handler of requests. It never rejects because of what a caller sends. */
export function createAnswer(options: AnswerOptions): (request: Request) => Promise<Response> {
  const { capabilityId, signingKey, calls, maxBytes } = options
  const nonces = createNonces()
  // Nonces of an earlier process are not known: what was signed before this one started may be a replay.
  const startedSecond = Math.floor(systemClock.now() / 1_000)
  return async (request) => {
    if (request.method !== 'POST' && request.method !== 'DELETE')
      return refuse(405, 'Calls are sent with POST and cancelled with DELETE')
    const key = signingKey()
    // 503 is retried by the server: a restarted agent may be called before it has registered.
    if (key === undefined) return refuse(503, 'The agent has not registered yet')
    const bytes = await readBytes(request, maxBytes)
    if (bytes === undefined) return refuse(413, `The call must have at most ${maxBytes} bytes`)
    const head = readHead(request.headers)
    if (head === undefined) return refuse(400, 'The headers of the call are incomplete')
    const { idempotencyKey, signature, ...signed } = head
    const now = systemClock.now()
    const verdict = verify({ ...signed, body: bytes }, { signature, secrets: [key], now })
    if (verdict === 'forged') return refuse(401, 'The signature does not match the signing key')
    if (verdict === 'stale') return refuse(401, `The timestamp is more than ${windowSeconds} s away`)
    // The server signs every try anew, so a call that was on its way while the agent started arrives again.
    if (Number(signed.timestamp) < startedSecond)
      return refuse(503, 'The call was signed before this agent started; sign it again')
    const body = readBody(bytes)
    if (body?.['capabilityId'] !== capabilityId)
      return refuse(404, `This agent executes "${capabilityId}" only`)
    const use = nonces.use(signed.nonce, now)
    if (use === 'full') return refuse(503, 'Too many calls')
    // In doubt, not refused: the first call with this nonce may be in progress.
    if (use === 'repeated') return refuse(409, 'This nonce was already used')
    if (request.method === 'DELETE') {
      const isRunning = calls.cancel(String(body['cancel']))
      return isRunning ? new Response(null, { status: 204 }) : refuse(404, 'The call is not in progress here')
    }
    if ('cancel' in body) return refuse(405, 'Calls are cancelled with DELETE')
    const { runId, nodeId, attempt } = signed
    // The capability id was checked; the rest is as the server signed it.
    const call = { ...body, runId, nodeId, attempt } as unknown as CallBody
    return respond(calls.start(idempotencyKey, call), { call, request, after: options.callbackAfterMs })
  }
}

interface Responding {
  readonly call: CallBody
  readonly request: Request
  readonly after: number
}

/** Waits for the first of: the answer, the first chunk of a stream, the time for a callback. */
async function respond(running: RunningCall, { call, request, after }: Responding): Promise<Response> {
  const detach = running.attach()
  const onGone = () => detach()
  request.signal.addEventListener('abort', onGone, { once: true })
  if (request.signal.aborted) detach()
  const leave = () => request.signal.removeEventListener('abort', onGone)
  try {
    const first = await waitForFirst(running, call.callbackUrl === undefined ? undefined : after)
    if (first === 'chunk') return new Response(toStream(running, detach), { headers: streamHeaders })
    if (
      first === 'late' &&
      call.callbackUrl !== undefined &&
      (await running.accept({ callbackUrl: call.callbackUrl }))
    ) {
      detach()
      return new Response(null, { status: 202 })
    }
    return toResponse(await running.answer)
  } catch {
    // The store cannot be read, so the function was not called: the server may call again under the same key.
    return refuse(503, 'The agent cannot read its stored calls')
  } finally {
    leave()
  }
}

async function waitForFirst(
  running: RunningCall,
  lateMs: number | undefined,
): Promise<'answer' | 'chunk' | 'late'> {
  const done = new AbortController()
  let removeListener = () => {}
  const chunk = new Promise<'chunk'>((resolve) => {
    if (running.chunks.length > 0) resolve('chunk')
    removeListener = running.onChunk(() => resolve('chunk'))
  })
  const late = lateMs !== undefined && [pause(systemClock, lateMs, done.signal).then(() => 'late' as const)]
  try {
    return await Promise.race([running.answer.then(() => 'answer' as const), chunk, ...(late || [])])
  } finally {
    removeListener()
    done.abort()
  }
}

const streamHeaders = { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' }

/** Sends the chunks as they come. A failure breaks the connection, so that a part is not taken for the whole. */
function toStream(running: RunningCall, detach: () => void): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  let sent = 0
  let isCancelled = false
  let removeListener = () => {}
  return new ReadableStream({
    start(controller) {
      const flush = () => {
        for (; sent < running.chunks.length; sent++)
          controller.enqueue(encoder.encode(running.chunks[sent] ?? ''))
      }
      removeListener = running.onChunk(flush)
      flush()
      void running.answer.then((answer) => {
        removeListener()
        // The server is gone; it calls again under the same key, and gets the answer then.
        if (isCancelled) return
        if ('text' in answer) {
          flush()
          controller.close()
        } else controller.error(new Error('error' in answer ? answer.error.message : 'The stream ended'))
      })
    },
    cancel() {
      isCancelled = true
      removeListener()
      detach()
    },
  })
}

function toResponse(answer: CallAnswer): Response {
  if ('output' in answer) return Response.json(answer.output)
  if ('text' in answer) return new Response(answer.text, { headers: streamHeaders })
  if ('question' in answer) return Response.json(answer, { status: 428 })
  const { message, outcome } = answer.error
  return refuse(outcome === 'refused' ? 422 : 500, message)
}

function refuse(status: number, message: string): Response {
  return new Response(message, { status, headers: { 'content-type': 'text/plain; charset=utf-8' } })
}

function readHead(headers: Headers) {
  const read = (name: string) => headers.get(name) ?? ''
  try {
    const head = {
      idempotencyKey: read('idempotency-key'),
      timestamp: read(signatureHeaders.timestamp),
      nonce: read(signatureHeaders.nonce),
      signature: read(signatureHeaders.signature),
      runId: decodeURIComponent(read(signatureHeaders.runId)),
      nodeId: decodeURIComponent(read(signatureHeaders.nodeId)),
      attempt: Number(read(signatureHeaders.attempt)),
    }
    return head.idempotencyKey === '' ? undefined : head
  } catch {
    // Not percent-encoded.
    return undefined
  }
}

function readBody(bytes: Uint8Array): { readonly [name: string]: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(bytes))
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** Most nonces kept at a time: about 160 verified calls per second. */
const mostNonces = 100_000

/** Remembers the nonces of verified calls for as long as their timestamps are accepted. */
function createNonces() {
  const seen = new Map<string, number>()
  return {
    use(nonce: string, now: number): 'first' | 'repeated' | 'full' {
      // In the order of insertion, so the oldest come first.
      for (const [old, until] of seen) {
        if (until > now) break
        seen.delete(old)
      }
      if (seen.has(nonce)) return 'repeated'
      if (seen.size >= mostNonces) return 'full'
      seen.set(nonce, now + 2 * windowSeconds * 1_000)
      return 'first'
    },
  }
}

/** Reads a body; returns undefined as soon as the body is longer than `maxBytes`. */
async function readBytes(request: Request, maxBytes: number): Promise<Uint8Array | undefined> {
  if (request.body === null) return new Uint8Array()
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of request.body as unknown as AsyncIterable<Uint8Array>) {
    length += chunk.length
    if (length > maxBytes) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
