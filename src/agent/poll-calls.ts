/** Takes the calls of an agent from its server, for workers that cannot be called, such as behind NAT. */
import { systemClock } from '../base/time/clock.ts'
import { backoffMs, pause } from '../base/time/retry.ts'
import type { CallBody } from './call.ts'
import { serverRetryPolicy } from './post-callback.ts'
import { type AgentServer, describeFailure } from './registration.ts'
import type { RunningCall, RunningCalls } from './running-calls.ts'

interface PollOptions {
  readonly server: AgentServer
  readonly capabilityId: string
  readonly calls: RunningCalls
  /** Calls at a time. */
  readonly concurrency: number
  readonly onError: (cause: Error) => void
  /** Aborted when no more calls are taken. */
  readonly signal: AbortSignal
  /** Aborted when calls in progress are cut off. */
  readonly ended: AbortSignal
}

/** A call as the server gives it. */
interface TakenCall {
  readonly idempotencyKey: string
  readonly delivery: number
  readonly leaseMs: number
  readonly signingKey: string
  readonly callbackPath: string
  readonly body: CallBody
}

/** How long one request waits for a call. */
const waitMs = 25_000
/** Timeout of other requests, and of what a request takes beside its wait. */
const answerMs = 15_000
/** New text of a stream is sent this often. */
const textMs = 100

/** Takes and executes calls until the signal aborts. */
export async function pollCalls(options: PollOptions): Promise<void> {
  const { capabilityId, concurrency, onError, signal } = options
  const working = new Set<Promise<void>>()
  const report = (what: string, cause: unknown) =>
    onError(new Error(`Cannot ${what} of "${capabilityId}": ${describeFailure(cause)}`, { cause }))
  let failures = 0
  while (!signal.aborted) {
    if (working.size >= concurrency) {
      await Promise.race([...working, waitForAbort(signal)])
      continue
    }
    try {
      const call = await takeCall(options)
      failures = 0
      if (call === undefined) continue
      const work: Promise<void> = execute(call, options)
        .catch((cause) => report('execute a call', cause))
        .finally(() => working.delete(work))
      working.add(work)
    } catch (cause) {
      if (signal.aborted) return
      failures++
      report('take a call', cause)
      await pause(systemClock, backoffMs(serverRetryPolicy, failures), signal)
    }
  }
}

/** Begins a call, runs the function, and renews the call until the function has ended. The answer is posted as a callback. */
async function execute(call: TakenCall, options: PollOptions): Promise<void> {
  const { server, calls } = options
  // A call that is not begun is given to another worker.
  if ((await renew(call, options, { text: '', offset: 0 })) === 'over') return
  const callbackUrl = `${server.url.replace(/\/+$/, '')}${call.callbackPath}`
  const running = await calls.startTaken(call.idempotencyKey, call.body, {
    callbackUrl,
    signingKey: call.signingKey,
  })
  const done = new AbortController()
  const settled = running.answer.then(
    () => done.abort(),
    () => done.abort(),
  )
  await keepRenewing(call, running, { ...options, done: done.signal })
  await settled
}

async function keepRenewing(
  call: TakenCall,
  running: RunningCall,
  options: PollOptions & { readonly done: AbortSignal },
): Promise<void> {
  const { calls, onError, done, ended } = options
  let sent = 0
  let offset = 0
  while (!done.aborted && !ended.aborted) {
    await waitForText(running, sent, { done, ms: call.leaseMs / 3 })
    if (done.aborted || ended.aborted) return
    const chunks = running.chunks.slice(sent)
    const text = chunks.join('')
    try {
      // Another worker has the call, or the run does not need it any more.
      if ((await renew(call, options, { text, offset })) === 'over') {
        calls.cancel(call.idempotencyKey)
        return
      }
      sent += chunks.length
      offset += text.length
    } catch (cause) {
      onError(
        new Error(`Cannot renew a call of "${options.capabilityId}": ${describeFailure(cause)}`, { cause }),
      )
      await pause(systemClock, Math.min(call.leaseMs / 6, 1_000), done)
    }
  }
}

/** Waits for new text, or until the call must be renewed. */
async function waitForText(
  running: RunningCall,
  sent: number,
  { done, ms }: { readonly done: AbortSignal; readonly ms: number },
): Promise<void> {
  const awake = new AbortController()
  const removeListener = running.onChunk(() => awake.abort())
  if (running.chunks.length > sent) awake.abort()
  const signal = AbortSignal.any([done, awake.signal])
  await pause(systemClock, ms, signal)
  removeListener()
  // More text may follow at once: it is sent together.
  if (awake.signal.aborted) await pause(systemClock, textMs, done)
}

function waitForAbort(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
}

async function takeCall(options: PollOptions): Promise<TakenCall | undefined> {
  const response = await post('', { waitMs }, { ...options, timeoutMs: waitMs + answerMs })
  if (response.status === 204) return undefined
  const text = await response.text()
  if (!response.ok) throw new Error(`the server answered ${response.status}: ${text.slice(0, 300)}`)
  return JSON.parse(text)
}

async function renew(
  { idempotencyKey, delivery }: TakenCall,
  options: PollOptions,
  { text, offset }: { readonly text: string; readonly offset: number },
): Promise<'renewed' | 'over'> {
  const body = { delivery, ...(text !== '' && { text, offset }) }
  const more = { ...options, signal: options.ended, timeoutMs: answerMs }
  const response = await post(`/${encodeURIComponent(idempotencyKey)}`, body, more)
  if (response.ok || response.status === 409) {
    await response.body?.cancel()
    return response.ok ? 'renewed' : 'over'
  }
  throw new Error(`the server answered ${response.status}: ${(await response.text()).slice(0, 300)}`)
}

function post(
  target: string,
  body: object,
  { server, capabilityId, signal, timeoutMs }: PollOptions & { readonly timeoutMs: number },
): Promise<Response> {
  const path = `/api/v1/flex/capabilities/${encodeURIComponent(capabilityId)}/calls${target}`
  return fetch(`${server.url.replace(/\/+$/, '')}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${server.token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
  })
}
