/**
 * `Idempotency-Key`: the first answer again for the same request, a refusal for another one with the same key. Bound to
 * tenant, route and body. A process that dies in between leaves the name open; after a while the request is carried out
 * again, and the run that it may have begun is found by its id, which comes from the key.
 */
import { canonicalJson } from '../base/canonical.ts'
import type { Clock } from '../base/clock.ts'
import { sha256Hex } from '../base/hash.ts'
import { isObject, type Json } from '../base/json.ts'
import type { Once } from '../domain/ports/records.ts'
import { type Refusal, refusal } from './problem.ts'
import type { Answer, Caller, Route } from './route.ts'

/** How long a key is remembered. */
export const keepMs = 24 * 3_600_000
/** After this, whoever began is taken for dead. */
export const abandonedMs = 60_000

export interface Keyed {
  /** Under which the answer is kept. */
  readonly name: string
  readonly hash: string
  /** The same for the same key and request: what is made under it is made once. */
  readonly onceId: string
}

/** What the header says, or `undefined` where there is none or the route does not heed it. */
export function readKey(
  route: Route,
  caller: Caller,
  given: { readonly key: string | undefined; readonly parts: Json },
): Keyed | Refusal | undefined {
  if (given.key === undefined || !route.idempotent) return undefined
  if (!/^[\x21-\x7e]{1,200}$/.test(given.key))
    return refusal('request/unreadable', 'The Idempotency-Key must have 1 to 200 visible ASCII characters', {
      hint: 'Send a fresh UUID for every new request',
    })
  const name = `idempotency ${sha256Hex(canonicalJson([caller.tenant, route.operation, given.key]))}`
  const hash = sha256Hex(canonicalJson(given.parts))
  return { name, hash, onceId: sha256Hex(`${name} ${hash}`) }
}

export async function answerOnce(
  { name, hash }: Keyed,
  { once, clock }: { readonly once: Once; readonly clock: Pick<Clock, 'now'> },
  carryOut: () => Promise<Answer | Refusal>,
): Promise<Answer | Refusal> {
  const taken = await once.take(name, { body: { hash, at: clock.now() }, keepMs })
  if (taken.kind === 'held') {
    const held = isObject(taken.body) ? taken.body : {}
    if (held['hash'] !== hash)
      return refusal('idempotency/other-body', 'This Idempotency-Key was sent with another request before', {
        hint: 'Use a new key for a new request',
      })
    // It was put there below.
    if (held['answer'] !== undefined) return replayed(held['answer'] as unknown as Answer)
    if (clock.now() - Number(held['at']) < abandonedMs)
      return refusal(
        'idempotency/in-flight',
        'The first request with this Idempotency-Key has no answer yet',
        {
          hint: 'Try again in a moment',
          headers: { 'retry-after': '1' },
        },
      )
  }
  const answer = await carryOut().catch(async (cause) => {
    await once.release(name)
    throw cause
  })
  // What was refused did not happen and may be tried again.
  if ('refused' in answer || ('status' in answer && answer.status >= 400)) await once.release(name)
  else await once.settle(name, { hash, answer: answer as unknown as Json })
  return answer
}

function replayed(answer: Answer): Answer {
  return { ...answer, headers: { ...answer.headers, 'idempotency-replayed': 'true' } }
}
