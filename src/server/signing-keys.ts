/** Keys that calls to an agent and its calls back are signed with: made here, told once, and replaced without a gap. */
import { randomBytes } from 'node:crypto'
import type { SigningKey } from '../domain/endpoint.ts'

/** How long the key before the newest stays good: calls that are on their way, and processes that have not heard yet. */
export const overlapMs = 24 * 3_600_000

export interface Keys {
  readonly keys: readonly SigningKey[]
  /** Only when a new one was made. */
  readonly issued?: SigningKey
}

/** Those that are alive; a new one where there is none, or where one is wanted. Two at most. */
export function renewKeys(before: readonly SigningKey[], given: { rotate: boolean; now: number }): Keys {
  const { rotate, now } = given
  const alive = before.filter(({ until }) => until === undefined || until > now)
  const [newest] = alive
  if (newest !== undefined && !rotate) return { keys: alive }
  const issued: SigningKey = {
    keyId: randomBytes(4).toString('hex'),
    secret: `psk_${randomBytes(32).toString('base64url')}`,
  }
  if (newest === undefined) return { keys: [issued], issued }
  const until = Math.min(newest.until ?? Number.POSITIVE_INFINITY, now + overlapMs)
  return { keys: [issued, { ...newest, until }], issued }
}
