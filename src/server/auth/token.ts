/** Creates and hashes tokens: 256 random bits behind a prefix that secret scanners recognise. Only hashes are stored. */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { ProvisoError } from '../../base/errors/error.ts'
import type { ChangedBy, Role, TokenRow, Tokens } from '../../domain/ports/records.ts'

export const tokenPrefix = 'pvs_'

/** Minimum length of `FLEX_TOKEN`, against weak tokens chosen by hand. */
export const shortestToken = 16

/** Who calls, as `verify` reports it. */
export interface Verified {
  /** Name of the person or program: who decided, in the journal and the audit. */
  readonly name: string
  readonly role: Role
  /** Default `default`. */
  readonly tenant?: string
  /** Roles of the person for tasks, such as `legal`. */
  readonly taskRoles?: readonly string[]
}

export interface NewToken {
  readonly tenant: string
  readonly role: Role
  readonly name: string
  /** Milliseconds since 1970. */
  readonly expiresAt?: number
  /** Restricts an agent's token to one capability. */
  readonly capabilityId?: string
  /** Roles of the person for tasks, such as `legal`. */
  readonly taskRoles?: readonly string[]
}

/** Creates a token and stores its hash. The token itself is only in the return value. */
export async function createToken(
  tokens: Tokens,
  given: NewToken,
  changed: ChangedBy = {},
): Promise<{ readonly token: string; readonly row: TokenRow }> {
  if (given.tenant === '' || given.name === '')
    throw new ProvisoError('option/invalid', 'A token must have a tenant and a name')
  if (given.capabilityId !== undefined && given.role !== 'agent')
    throw new ProvisoError(
      'option/invalid',
      `Only a token of the role agent can be restricted to one capability, got the role ${given.role}`,
      { hint: 'Omit the capability, or create a token of the role agent' },
    )
  const { token, ...secret } = makeToken()
  const row = await tokens.add({ ...secret, ...given }, changed)
  return { token, row }
}

export interface RotateToken extends ChangedBy {
  readonly tokenId: string
  /** Only a token of this tenant. */
  readonly tenant?: string
  /** How long the old token stays valid. Default 24 hours. */
  readonly overlapMs?: number
  /** Lifetime of the new token. Default: as long as the old one was made for. */
  readonly lifetimeMs?: number
}

export const defaultOverlapMs = 24 * 3_600_000

/**
 * Creates a token with the role, name, tenant and restriction of another one, which stays valid for the overlap. What the old
 * token registered belongs to the new one too. Undefined if there is no valid token of this id.
 */
export async function rotateToken(
  tokens: Tokens,
  { tokenId, tenant, overlapMs = defaultOverlapMs, lifetimeMs, by }: RotateToken,
): Promise<{ readonly token: string; readonly row: TokenRow; readonly old: TokenRow } | undefined> {
  const rows = await tokens.list(tenant === undefined ? {} : { tenant })
  const before = rows.find((row) => row.tokenId === tokenId)
  if (before === undefined) return undefined
  const usual = before.expiresAt === undefined ? undefined : before.expiresAt - before.createdAt
  const lifetime = lifetimeMs ?? usual
  const { token, ...secret } = makeToken()
  const rotated = await tokens.rotate({
    tokenId,
    next: { ...secret, ...(lifetime !== undefined && { expiresAt: Date.now() + lifetime }) },
    overlapMs,
    ...(by !== undefined && { by }),
  })
  return rotated && { token, row: rotated.next, old: rotated.old }
}

function makeToken(): { readonly token: string; readonly tokenId: string; readonly hash: string } {
  const token = `${tokenPrefix}${randomBytes(32).toString('base64url')}`
  return { token, tokenId: `tok_${randomBytes(8).toString('hex')}`, hash: tokenHash(token) }
}

export function tokenHash(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}

/** Compares hashes of equal length in constant time. */
export function isSameHash(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)]
  return a.length === b.length && timingSafeEqual(a, b)
}
