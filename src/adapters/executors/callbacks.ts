/**
 * Correlates the callbacks of asynchronous agents with their attempts. An agent that accepted a call posts its answer to a
 * URL that names the attempt. The process that receives the post stores it under the call's key, where the attempt, in any
 * process, reads it. The first post under `answer <key>` is the answer; later ones are ignored. The stored answer outlives
 * a crash: the next attempt finds it and does not call again.
 */

import { isObject, type Json, own } from '../../base/json.ts'
import type { Clock } from '../../base/time/clock.ts'
import { isFresh, isSignature, verify, windowSeconds } from '../../domain/capability/call-signature.ts'
import type { Outcome } from '../../domain/output.ts'
import type { CallbackHead, CallbackPost, Callbacks, Delivery } from '../../domain/ports/callbacks.ts'
import type { Once } from '../../domain/ports/records.ts'

/** Identifies an attempt in its callback URL. */
interface AttemptName {
  readonly runId: string
  readonly nodeId: string
  readonly attempt: number
  /** Distinguishes calls of the same number under different plans: the beginning of the idempotency key. */
  readonly keyStart?: string
}

/** The state of an attempt, from the journal. */
interface AttemptFacts {
  readonly tenant: string
  readonly capabilityId: string
  readonly idempotencyKey: string
  /** Whether an answer still counts. */
  readonly open: boolean
  /** Whether a person is asked about its outcome: an answer closes that ask. */
  readonly asked: boolean
  /** Whether an attempt waits for the answer. */
  readonly inFlight: boolean
  readonly planVersion: number
}

/** An answer that neither an attempt nor an ask waits for: the attempt was interrupted, or a new plan set its call aside. */
export interface UnawaitedAnswer extends Pick<AttemptName, 'runId' | 'nodeId' | 'attempt'> {
  readonly planVersion: number
  readonly outcome: Outcome
}

interface CallbacksOptions {
  readonly once: Once
  readonly clock: Clock
  /** Reads the journal, in whichever process the run is active; `undefined` if the attempt does not exist. */
  readonly findAttempt: (name: AttemptName) => Promise<AttemptFacts | undefined>
  /** Returns the secrets that may sign the answer. */
  readonly getSecrets: (
    call: Pick<AttemptFacts, 'tenant' | 'capabilityId' | 'idempotencyKey'>,
  ) => readonly string[]
  /** Called when the answer to an attempt that a person is asked about is stored. */
  readonly onAnswer: (call: { readonly runId: string; readonly idempotencyKey: string }) => Promise<void>
  /** Called before an answer is stored that nothing waits for, so that the journal has it. */
  readonly onUnawaited: (answer: UnawaitedAnswer) => Promise<void>
  /** Reloads registrations: another process may have accepted one or rotated its key a moment ago. */
  readonly refresh: () => Promise<void>
  /** How often the store is polled for posts that other processes received. Default 1 s. */
  readonly pollMs?: number
}

export interface PendingCallbacks extends Callbacks {
  /** Whether an answer to the call would count, and there is none yet. */
  isAwaited(call: { readonly callId: string; readonly idempotencyKey: string }): Promise<boolean>
  /** For a repeated attempt: returns an answer that arrived between attempts, or clears the key for a new one. */
  earlier(idempotencyKey: string): Promise<Json | undefined>
  /** Waits for the post; `undefined` when the signal aborts. */
  wait(idempotencyKey: string, signal: AbortSignal): Promise<Json | undefined>
}

/** Long enough for another process to take over. */
const keepMs = 24 * 3_600_000

export function createCallbacks(options: CallbacksOptions): PendingCallbacks {
  const { once, clock, pollMs = 1_000 } = options
  const waiting = new Map<string, () => void>()

  const read = async (key: string): Promise<Json | undefined> => {
    const held = await once.look(`answer ${key}`)
    return held && answerIn(held.body)
  }
  const waitForChange = (key: string, signal: AbortSignal) =>
    new Promise<void>((resolve) => {
      const done = () => {
        takeBack()
        waiting.delete(key)
        signal.removeEventListener('abort', done)
        resolve()
      }
      const takeBack = clock.timer(clock.now() + pollMs, done)
      waiting.set(key, done)
      signal.addEventListener('abort', done, { once: true })
      if (signal.aborted) done()
    })

  return {
    async earlier(key) {
      const answer = await read(key)
      // An error or a question answered the previous attempt; this one may succeed.
      if (!isObject(answer) || !(Object.hasOwn(answer, 'error') || Object.hasOwn(answer, 'question')))
        return answer
      await once.release(`answer ${key}`)
      return undefined
    },
    async wait(key, signal) {
      while (!signal.aborted) {
        const notified = waitForChange(key, signal)
        // If the store does not answer, poll again; the attempt's own timeout is the limit.
        const answer = await read(key).catch(() => undefined)
        if (answer !== undefined) {
          waiting.get(key)?.()
          return answer
        }
        await notified
      }
      // A post that arrived in time counts, even if it is only read after the timeout.
      return read(key).catch(() => undefined)
    },
    async isAwaited({ callId, idempotencyKey }) {
      const name = readCallId(callId)
      const facts = name && (await options.findAttempt(name))
      return facts?.open === true && (await once.look(`answer ${idempotencyKey}`)) === undefined
    },
    async checkHead(head) {
      const name = readCallId(head.callId)
      if (name === undefined || (await options.findAttempt(name)) === undefined) return 'unknown'
      return checkHeaders(head, clock.now())
    },
    async deliver(post) {
      const name = readCallId(post.callId)
      const facts = name && (await options.findAttempt(name))
      if (name === undefined || facts === undefined) return 'unknown'
      const judge = () => check(post, name, options.getSecrets(facts), clock.now())
      let wrong = judge()
      if (wrong === 'forged') {
        await options.refresh()
        wrong = judge()
      }
      if (wrong !== undefined) return wrong
      const nonce = `nonce ${JSON.stringify([facts.tenant, facts.capabilityId, post.nonce])}`
      const first = await once.take(nonce, { body: null, keepMs: 2 * windowSeconds * 1_000 })
      if (first.kind === 'held') return 'replayed'
      if (!facts.open) return 'settled'
      const key = facts.idempotencyKey
      const isFirst = (await once.look(`answer ${key}`)) === undefined
      if (isFirst && !facts.inFlight && !facts.asked) {
        const { runId, nodeId, attempt } = name
        const { planVersion } = facts
        await options.onUnawaited({ runId, nodeId, attempt, planVersion, outcome: toOutcome(post.body) })
      }
      const mine = await once.take(`answer ${key}`, { body: { answer: post.body }, keepMs })
      waiting.get(key)?.()
      // Also for a repeated post: the process that stored it may have died before it notified the run.
      if (facts.asked) await options.onAnswer({ runId: name.runId, idempotencyKey: key })
      return mine.kind === 'held' ? 'settled' : 'delivered'
    },
  }
}

/** Returns how the agent says that the call ended; the answer itself is read when a node uses it. */
function toOutcome(body: Json): Outcome {
  const { question, error } = body as { readonly question?: Json; readonly error?: { outcome?: Outcome } }
  if (error !== undefined) return error.outcome ?? 'provider_error'
  return question === undefined ? 'ok' : 'unclear'
}

/** Formats the attempt for its callback URL. It is not a secret: the signature authenticates the agent. */
export function formatCallId(call: AttemptName & { readonly idempotencyKey: string }): string {
  const { runId, nodeId, attempt, idempotencyKey } = call
  const name = [runId, nodeId, attempt, idempotencyKey.slice(0, 16)]
  return Buffer.from(JSON.stringify(name)).toString('base64url')
}

function readCallId(callId: string): AttemptName | undefined {
  try {
    const [runId, nodeId, attempt, keyStart = ''] = JSON.parse(Buffer.from(callId, 'base64url').toString())
    const texts = [runId, nodeId, keyStart]
    const good = texts.every((part) => typeof part === 'string') && Number.isInteger(attempt)
    return good ? { runId, nodeId, attempt, keyStart } : undefined
  } catch {
    return undefined
  }
}

/** Checks the form of the headers, and the timestamp: a signature with these headers may be valid. */
function checkHeaders(
  { timestamp = '', nonce = '', signature = '' }: CallbackHead,
  now: number,
): 'forged' | 'stale' | undefined {
  if (!isNonce(nonce) || !isSignature(signature)) return 'forged'
  return isFresh(timestamp, now) ? undefined : 'stale'
}

function isNonce(nonce: string): boolean {
  return /^[\x21-\x7e]{8,200}$/.test(nonce)
}

function check(
  { timestamp = '', nonce = '', signature = '', rawBody }: CallbackPost,
  name: AttemptName,
  secrets: readonly string[],
  now: number,
): Exclude<Delivery, 'delivered'> | undefined {
  if (!isNonce(nonce)) return 'forged'
  const verdict = verify({ timestamp, nonce, ...name, body: rawBody }, { signature, secrets, now })
  return verdict === 'good' ? undefined : verdict
}

function answerIn(body: Json): Json | undefined {
  return isObject(body) ? (own(body, 'answer') as Json | undefined) : undefined
}
