/**
 * Answers that come later. An agent that said "accepted" posts its answer to an address that names the attempt; whoever
 * takes the post, in whichever process, leaves it in the store under the key of the call, where the attempt looks for it.
 * The first to take the name `answer <key>` is the answer, everything after it is late. It outlives a process that dies: the
 * attempt that follows finds it and need not call again.
 */
import type { Clock } from '../../base/clock.ts'
import { isObject, type Json, own } from '../../base/json.ts'
import type { CallbackPost, Callbacks, Delivery } from '../../domain/ports/callbacks.ts'
import type { Once } from '../../domain/ports/records.ts'
import { verify, windowSeconds } from './signature.ts'

/** An attempt as its callback names it. */
export interface AttemptName {
  readonly runId: string
  readonly nodeId: string
  readonly attempt: number
}

/** What the journal says of an attempt. */
export interface AttemptFacts {
  readonly tenant: string
  readonly capabilityId: string
  readonly idempotencyKey: string
  /** An answer to it still counts. */
  readonly open: boolean
  /** A person is asked what became of it: an answer closes that ask. */
  readonly asked: boolean
}

export interface CallbacksOptions {
  readonly once: Once
  readonly clock: Clock
  /** From the journal, whoever carries the run; nothing if there is no such attempt. */
  readonly attemptOf: (name: AttemptName) => Promise<AttemptFacts | undefined>
  /** Secrets that are alive of an agent's keys. */
  readonly secretsOf: (agent: Pick<AttemptFacts, 'tenant' | 'capabilityId'>) => readonly string[]
  /** The answer to an attempt that a person is asked about is in the store. */
  readonly onAnswer: (call: { readonly runId: string; readonly idempotencyKey: string }) => Promise<void>
  /** Reads again who is registered: another process may have taken a registration, or made a new key, a moment ago. */
  readonly refresh: () => Promise<void>
  /** How often the store is asked for posts that other processes took. Default 1 s. */
  readonly pollMs?: number
}

export interface WaitingRoom extends Callbacks {
  /** For an attempt that is not the first: an answer that came while nobody listened, or nothing, and then the way is free for a new one. */
  earlier(idempotencyKey: string): Promise<Json | undefined>
  /** Waits for the post; nothing when the signal ends it. */
  wait(idempotencyKey: string, signal: AbortSignal): Promise<Json | undefined>
}

/** Long enough for another process to take over. */
const keepMs = 24 * 3_600_000

export function createCallbacks(options: CallbacksOptions): WaitingRoom {
  const { once, clock, pollMs = 1_000 } = options
  const waiting = new Map<string, () => void>()

  const read = async (key: string): Promise<Json | undefined> => {
    const held = await once.look(`answer ${key}`)
    return held && answerIn(held.body)
  }
  const news = (key: string, signal: AbortSignal) =>
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
      // That it failed or asked was an answer to the attempt before; this one may go better.
      if (!isObject(answer) || !(Object.hasOwn(answer, 'error') || Object.hasOwn(answer, 'question')))
        return answer
      await once.release(`answer ${key}`)
      return undefined
    },
    async wait(key, signal) {
      while (!signal.aborted) {
        const heard = news(key, signal)
        // A store that does not answer now is asked again; the attempt's own time is the limit.
        const answer = await read(key).catch(() => undefined)
        if (answer !== undefined) {
          waiting.get(key)?.()
          return answer
        }
        await heard
      }
      // What was taken in time counts, although it was not seen until the time was over.
      return read(key).catch(() => undefined)
    },
    async deliver(post) {
      const name = readCallId(post.callId)
      const facts = name && (await options.attemptOf(name))
      if (name === undefined || facts === undefined) return 'unknown'
      const judge = () => check(post, name, options.secretsOf(facts), clock.now())
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
      const mine = await once.take(`answer ${key}`, { body: { answer: post.body }, keepMs })
      waiting.get(key)?.()
      // Also for one that came before: its process may have died between taking it and telling the run.
      if (facts.asked) await options.onAnswer({ runId: name.runId, idempotencyKey: key })
      return mine.kind === 'held' ? 'settled' : 'delivered'
    },
  }
}

/** The name of an attempt as a part of an address. It is no secret: the signature says who may answer. */
export function callIdOf({ runId, nodeId, attempt }: AttemptName): string {
  return Buffer.from(JSON.stringify([runId, nodeId, attempt])).toString('base64url')
}

function readCallId(callId: string): AttemptName | undefined {
  try {
    const [runId, nodeId, attempt] = JSON.parse(Buffer.from(callId, 'base64url').toString())
    const good = typeof runId === 'string' && typeof nodeId === 'string' && Number.isInteger(attempt)
    return good ? { runId, nodeId, attempt } : undefined
  } catch {
    return undefined
  }
}

function check(
  { timestamp = '', nonce = '', signature = '', rawBody }: CallbackPost,
  name: AttemptName,
  secrets: readonly string[],
  now: number,
): Exclude<Delivery, 'delivered'> | undefined {
  if (!/^[\x21-\x7e]{8,200}$/.test(nonce)) return 'forged'
  const verdict = verify({ timestamp, nonce, ...name, body: rawBody }, { signature, secrets, now })
  return verdict === 'good' ? undefined : verdict
}

function answerIn(body: Json): Json | undefined {
  return isObject(body) ? (own(body, 'answer') as Json | undefined) : undefined
}
