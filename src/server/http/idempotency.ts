/**
 * Implements `Idempotency-Key`: repeats the first answer for the same request and refuses another request with the same key.
 * Keys are bound to tenant, route and body. If a process dies before it answers, the key stays reserved for a while; then
 * the request is executed again and finds the run it may have started, because the run id is derived from the key.
 */
import { canonicalJson } from '../../base/canonical.ts'
import { sha256Hex } from '../../base/hash.ts'
import { isObject, type Json } from '../../base/json.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { Once } from '../../domain/ports/records.ts'
import { type Refusal, refusal } from '../problem.ts'
import type { Answer, Caller, Route } from '../route.ts'

/** How long a key is kept. */
const keepMs = 24 * 3_600_000
/** After this time, a request without an answer counts as abandoned. */
export const abandonedMs = 60_000

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
  given: { readonly key: string | undefined; readonly parts: Json },
): Keyed | Refusal | undefined {
  if (given.key === undefined || !route.idempotent) return undefined
  if (!/^[\x21-\x7e]{1,200}$/.test(given.key))
    return refusal('request/unreadable', 'Idempotency-Key must have 1 to 200 visible ASCII characters', {
      hint: 'Send a fresh UUID for every new request',
    })
  const name = `idempotency ${sha256Hex(canonicalJson([caller.tenant, route.operation, given.key]))}`
  const hash = sha256Hex(canonicalJson(given.parts))
  return { name, hash, onceId: sha256Hex(`${name} ${hash}`) }
}

export async function answerOnce(
  { name, hash }: Keyed,
  { once, clock }: { readonly once: Once; readonly clock: Pick<Clock, 'now'> },
  execute: () => Promise<Answer | Refusal>,
): Promise<Answer | Refusal> {
  const taken = await once.take(name, { body: { hash, at: clock.now() }, keepMs })
  if (taken.kind === 'held') {
    const held = isObject(taken.body) ? taken.body : {}
    if (held['hash'] !== hash)
      return refusal('idempotency/other-body', 'This Idempotency-Key was already used with another request', {
        hint: 'Use a new key for a new request',
      })
    // Stored below by this function.
    if (held['answer'] !== undefined) return replayed(held['answer'] as unknown as Answer)
    if (clock.now() - Number(held['at']) < abandonedMs)
      return refusal(
        'idempotency/in-flight',
        'The first request with this Idempotency-Key is still in progress',
        {
          hint: 'Retry in a second',
          headers: { 'retry-after': '1' },
        },
      )
  }
  const answer = await execute().catch(async (cause) => {
    await once.release(name)
    throw cause
  })
  // A refused request had no effect, so its key is released for a retry.
  if ('refused' in answer || ('status' in answer && answer.status >= 400)) await once.release(name)
  else await once.settle(name, { hash, answer: answer as unknown as Json })
  return answer
}

function replayed(answer: Answer): Answer {
  return { ...answer, headers: { ...answer.headers, 'idempotency-replayed': 'true' } }
}
