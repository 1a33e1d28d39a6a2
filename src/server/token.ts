/** Tokens: 256 random bits behind a prefix that scanners can find; only their hash is kept. */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { ProvisoError } from '../base/error.ts'
import type { Role, TokenRow, Tokens } from '../domain/ports/records.ts'

export const tokenPrefix = 'pvs_'

/** The shortest `FLEX_TOKEN`: what people make up themselves must not be guessed. */
export const shortestToken = 16

export interface NewToken {
  readonly tenant: string
  readonly role: Role
  readonly name: string
  /** Milliseconds since 1970. */
  readonly expiresAt?: number
  /** An agent's token may be good for one capability alone. */
  readonly capabilityId?: string
}

/** Makes a token and keeps its hash. The token itself is in the answer and nowhere else. */
export async function createToken(
  tokens: Tokens,
  given: NewToken,
): Promise<{ readonly token: string; readonly row: TokenRow }> {
  if (given.tenant === '' || given.name === '')
    throw new ProvisoError('option/invalid', 'A token needs a tenant and a name')
  if (given.capabilityId !== undefined && given.role !== 'agent')
    throw new ProvisoError(
      'option/invalid',
      `Only an agent’s token can be for one capability; a token of the role ${given.role} would not be held to it`,
      { hint: 'Leave the capability out, or make a token of the role agent' },
    )
  const token = `${tokenPrefix}${randomBytes(32).toString('base64url')}`
  const tokenId = `tok_${randomBytes(8).toString('hex')}`
  const row = await tokens.add({ tokenId, hash: tokenHash(token), ...given })
  return { token, row }
}

export function tokenHash(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}

/** Compares hashes, which have one length, in a time that tells nothing. */
export function sameHash(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)]
  return a.length === b.length && timingSafeEqual(a, b)
}
