/**
 * `Idempotency-Key`: repeats the first answer for the same request and refuses another request with the same key. Keys are
 * bound to tenant, route and body. A key without an answer names the server that executes its request. That server holds a
 * lease in the store, by the store's clock; once the lease has ended, the server is dead, and a retry executes the request
 * again. It finds the run that may have been started, because the run id is derived from the key.
 */
import { canonicalJson, sha256Hex } from '../../base/canonical.ts'
import { isObject, type Json } from '../../base/json.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { Once } from '../../domain/ports/records.ts'
import { type Refusal, refusal } from '../problem.ts'
import type { Answer, Caller, Route } from '../route.ts'

/** How long a key is kept. */
const keepMs = 24 * 3_600_000

interface Keyed {
  /** Key of the stored answer. */
  readonly name: string
  readonly hash: string
  /** The same for the same key and request. Resources created under this id are created once. */
  readonly onceId: string
}

/** Reads the header. Returns `undefined` if it is absent or the route does not support it. */
export function readKey(
  route: Route,
  caller: Caller,
  given: { readonly key: string; readonly parts: Json },
): Keyed | Refusal | undefined {
  if (!route.idempotent) return undefined
  if (!/^[\x21-\x7e]{1,200}$/.test(given.key))
    return refusal('request/unreadable', 'Idempotency-Key must have 1 to 200 visible ASCII characters', {
      hint: 'Send a fresh UUID for every new request',
    })
  const name = `idempotency ${sha256Hex(canonicalJson([caller.tenant, route.operation, given.key]))}`
  const hash = sha256Hex(canonicalJson(given.parts))
  return { name, hash, onceId: sha256Hex(`${name} ${hash}`) }
}

type Execute = () => Promise<Answer | Refusal>

export interface OnceServer {
  /** Executes the request of a key, or repeats its answer. */
  answerOnce(keyed: Keyed, execute: Execute): Promise<Answer | Refusal>
  /** Releases the lease: no request is executed here any more. */
  close(): Promise<void>
}

interface OnceOptions {
  readonly once: Once
  readonly clock: Clock
  readonly leaseMs: number
  /** Unique name of this server among all servers on the store. */
  readonly owner: string
}

export function createOnceServer(given: OnceOptions): OnceServer {
  const { once, owner } = given
  /** Keys whose requests are executed here now. */
  const executing = new Set<string>()
  /** Keys whose requests have ended, and whose end the store did not take. */
  const leftOver = new Set<string>()
  const presence = createPresence(given, async () => {
    for (const name of leftOver) {
      if (executing.has(name)) continue
      await once.release(name)
      leftOver.delete(name)
    }
  })
  const isInFlight = async (name: string, server: string) =>
    server === owner ? executing.has(name) : presence.isAlive(server)

  /** Takes over the key of a dead server; one of several retries succeeds, and the others find its name. */
  const takeOver = async (name: string, first: Json | undefined): Promise<boolean> => {
    for (let last = first; ; ) {
      if (typeof last === 'string' && (await isInFlight(name, last))) return false
      const taken = await once.take(`${name} after ${String(last)}`, { body: { owner }, keepMs })
      if (taken.kind === 'taken') return true
      last = isObject(taken.body) ? taken.body['owner'] : undefined
    }
  }

  return {
    async answerOnce({ name, hash }, execute) {
      await presence.hold()
      const taken = await once.take(name, { body: { hash, owner }, keepMs })
      if (taken.kind === 'held') {
        const held = isObject(taken.body) ? taken.body : {}
        if (held['hash'] !== hash) return otherBody
        // Stored below by this function.
        if (held['answer'] !== undefined) return replayed(held['answer'] as unknown as Answer)
        if (!(await takeOver(name, held['owner']))) return inFlight
      }
      executing.add(name)
      leftOver.add(name)
      try {
        const answer = await execute().catch(async (cause) => {
          await once.release(name)
          leftOver.delete(name)
          throw cause
        })
        // A refused request had no effect, so its key is released for a retry.
        if ('refused' in answer || ('status' in answer && answer.status >= 400)) await once.release(name)
        else await once.settle(name, { hash, answer: answer as unknown as Json })
        leftOver.delete(name)
        return answer
      } finally {
        executing.delete(name)
      }
    },
    close: presence.close,
  }
}

const otherBody = refusal(
  'idempotency/other-body',
  'This Idempotency-Key was already used with another request',
  { hint: 'Use a new key for a new request' },
)
const inFlight = refusal(
  'idempotency/in-flight',
  'The first request with this Idempotency-Key is still in progress',
  { hint: 'Retry in a second', headers: { 'retry-after': '1' } },
)

function replayed(answer: Answer): Answer {
  return { ...answer, headers: { ...answer.headers, 'idempotency-replayed': 'true' } }
}

/** The lease of one server: a name in the store that only a living process renews. */
function createPresence({ once, clock, leaseMs, owner }: OnceOptions, onRenewed: () => Promise<void>) {
  const getName = (server: string) => `server ${server}`
  const own = getName(owner)
  let held: Promise<unknown> | undefined
  let isClosed = false
  let cancelTimer = () => {}
  const take = () => once.take(own, { body: null, keepMs: leaseMs })

  const scheduleRenewal = () => {
    if (isClosed) return
    cancelTimer = clock.timer(clock.now() + leaseMs / 3, () => {
      scheduleRenewal()
      // Taken anew after a stall that outlasted the lease. If the store fails, the next renewal may succeed.
      void once
        .renew(own, leaseMs)
        .then((isHeld) => (isHeld || isClosed ? undefined : take()))
        .then(onRenewed)
        .catch(() => {})
    })
  }

  return {
    /** Begins with the first keyed request: a server without any needs no lease. */
    async hold() {
      held ??= take().then(scheduleRenewal)
      await held.catch((cause) => {
        held = undefined
        throw cause
      })
    },
    isAlive: async (server: string) => (await once.look(getName(server))) !== undefined,
    async close() {
      isClosed = true
      cancelTimer()
      // A store that is unavailable does not block the shutdown: then the lease ends by itself.
      if (held) await once.release(own).catch(() => {})
    },
  }
}
