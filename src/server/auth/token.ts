/** Creates and hashes tokens: 256 random bits behind a prefix that secret scanners recognise. Only hashes are stored. */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { ProvisoError } from '../../base/errors/error.ts'
import type { Role, TokenRow, Tokens } from '../../domain/ports/records.ts'

export const tokenPrefix = 'pvs_'

/** Minimum length of `FLEX_TOKEN`, against weak tokens chosen by hand. */
export const shortestToken = 16

export interface NewToken {
  readonly tenant: string
  readonly role: Role
  readonly name: string
  /** Milliseconds since 1970. */
  readonly expiresAt?: number
  /** Restricts an agent's token to one capability. */
  readonly capabilityId?: string
}

/** Creates a token and stores its hash. The token itself is only in the return value. */
export async function createToken(
  tokens: Tokens,
  given: NewToken,
): Promise<{ readonly token: string; readonly row: TokenRow }> {
  if (given.tenant === '' || given.name === '')
    throw new ProvisoError('option/invalid', 'A token must have a tenant and a name')
  if (given.capabilityId !== undefined && given.role !== 'agent')
    throw new ProvisoError(
      'option/invalid',
      `Only a token of the role agent can be restricted to one capability, got the role ${given.role}`,
      { hint: 'Omit the capability, or create a token of the role agent' },
    )
  const token = `${tokenPrefix}${randomBytes(32).toString('base64url')}`
  const tokenId = `tok_${randomBytes(8).toString('hex')}`
  const row = await tokens.add({ tokenId, hash: tokenHash(token), ...given })
  return { token, row }
}

export function tokenHash(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}

/** Compares hashes of equal length in constant time. */
export function isSameHash(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)]
  return a.length === b.length && timingSafeEqual(a, b)
}
